// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {RangeModel} from "./RangeModel.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

/// @title The limits on a stolen key: the hourly ceiling, and the hold on first payouts.
contract CeilingsTest is SettlementFixture {
    using RangeModel for RangeModel.Range;

    RangeModel.Range private range;

    uint48 private constant HOLD = 1 days;
    /// @dev Four sales per hour.
    uint24 private constant LOW = 10;

    function _setup() internal view override returns (ISettlement.Setup memory setup) {
        setup = super._setup();
        setup.payoutHold = HOLD;
        setup.hourlyCeiling = LOW;
    }

    function _lower(uint24 ceiling) private {
        vm.prank(GUARDIAN);
        settlement.lowerCeiling(ceiling);
    }

    function _restore(uint24 ceiling) private {
        vm.prank(STEWARD);
        settlement.restoreCeiling(ceiling);
    }

    function _hold(uint32 until) private {
        vm.prank(GUARDIAN);
        settlement.holdPayouts(merchant, until);
    }

    function test_paymentsBeyondTheCeilingFailOneByOne() public {
        bytes memory payments = bytes.concat(
            _sale(1),
            _sale(2),
            _packed(3, payer, otherMerchant, 2 * SALE + 1),
            _packed(4, payer, otherMerchant, 2 * SALE),
            _packed(5, payer, merchant, 1)
        );
        bytes memory reasons = _settle(payments);
        uint8[5] memory expected =
            [Reason.NONE, Reason.NONE, Reason.CEILING_REACHED, Reason.NONE, Reason.CEILING_REACHED];
        for (uint256 i = 0; i < expected.length; ++i) {
            assertEq(uint8(reasons[i]), expected[i], "reason");
        }
        (uint64 perHour, uint64 settled) = lens().ceiling();
        assertEq(perHour, 10e6, "ceiling");
        assertEq(settled, 10e6, "settled");
        assertEq(lens().preflight(_sale(6))[0], Reason.CEILING_REACHED, "preflight");
        assertEq(_settleOne(_sale(6)), Reason.CEILING_REACHED, "the next batch");
        vm.warp(block.timestamp + 59 minutes + 59);
        assertEq(_settleOne(_sale(6)), Reason.CEILING_REACHED, "the last second of the hour");
        vm.warp(block.timestamp + 1);
        assertEq(lens().preflight(_sale(6))[0], Reason.NONE, "preflight in the next hour");
        assertEq(_settleOne(_sale(6)), Reason.NONE, "the next hour");
        (, settled) = lens().ceiling();
        assertEq(settled, SALE, "counted anew");
    }

    function test_authorizedPaymentsCountToo() public {
        _settle(bytes.concat(_sale(1), _sale(2), _sale(3), _sale(4)));
        bytes32 nonce = settlement.authorizationNonce(merchant, SALE, 0, bytes8(0), "");
        ISettlement.Authorization memory authorization =
            _authorization(PAYER_KEY, PULLED, nonce, false, "");
        bytes memory payment = _sale(5);
        vm.prank(OPERATOR);
        uint8 reason = settlement.settleWithAuthorization(payment, authorization, _now());
        assertEq(reason, Reason.CEILING_REACHED, "reason");
    }

    function test_atMostTwiceTheCeilingSettlesInAnyHour() public {
        vm.warp(20_001 days + 1 hours - 1);
        _settle(bytes.concat(_sale(1), _sale(2), _sale(3), _sale(4), _sale(5)));
        vm.warp(20_001 days + 1 hours);
        _settle(bytes.concat(_sale(6), _sale(7), _sale(8), _sale(9), _sale(10)));
        for (uint64 i = 0; i < 60; ++i) {
            vm.warp(20_001 days + 1 hours + i * 1 minutes - (i == 0 ? 0 : 2));
            assertEq(_settleOne(_sale(100 + i)), Reason.CEILING_REACHED, "within the hour");
        }
        assertEq(_balanceOf(merchant), 2 * 10e6, "twice the ceiling");
    }

    function test_theGuardianLowersAtOnceAndAHigherOneWaitsInTheTimelock() public {
        _settle(bytes.concat(_sale(1), _sale(2)));
        expectError(ISettlement.CeilingNotLower.selector, 10, 10);
        _lower(10);
        _lower(4);
        // The ceiling is now below the sum settled, so nothing more settles; the lens reports both.
        assertEq(_settleOne(_packed(3, payer, merchant, 1)), Reason.CEILING_REACHED, "lowered");
        (uint64 perHour, uint64 settled) = lens().ceiling();
        assertEq(perHour, 4e6, "lowered");
        assertEq(settled, 2 * SALE, "settled before");
        vm.expectRevert();
        vm.prank(GUARDIAN);
        settlement.raiseCeiling(20);
        vm.expectRevert();
        vm.prank(STEWARD);
        settlement.raiseCeiling(20);
        _restore(10);
        _govern(abi.encodeCall(settlement.raiseCeiling, (20)));
        (perHour,) = lens().ceiling();
        assertEq(perHour, 20e6, "raised");
        (perHour,) = lens().outflow();
        assertEq(perHour, 20e6, "for refunds too");
        vm.expectRevert();
        vm.prank(STEWARD);
        settlement.lowerCeiling(1);
    }

    function test_theStewardRestoresACeilingThatHasWaitedBeforeAndNoHigherOne() public {
        assertEq(settlement.approvedCeiling(), LOW, "from the start");
        _lower(0);
        vm.expectRevert();
        vm.prank(GUARDIAN);
        settlement.restoreCeiling(1);
        expectError(ISettlement.CeilingNotApproved.selector, 11, 10);
        _restore(11);
        _restore(4);
        expectError(ISettlement.CeilingNotHigher.selector, 4, 4);
        _restore(4);
        vm.expectEmit();
        emit ISettlement.CeilingChanged(10, STEWARD);
        _restore(10);
        assertEq(_settleOne(_sale(1)), Reason.NONE, "sales go on");
    }

    /// @dev Any account executes operations, so a stranger must not undo a guardian's lower
    /// ceiling.
    function test_aScheduledRaiseNeverLowersNorUndoesAGuardiansCeiling() public {
        bytes memory raise = abi.encodeCall(settlement.raiseCeiling, (20));
        bytes memory older = abi.encodeCall(settlement.raiseCeiling, (15));
        _schedule(address(settlement), older, "older");
        _schedule(address(settlement), raise, "a");
        _schedule(address(settlement), raise, "again");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _lower(1);
        vm.expectEmit();
        emit ISettlement.CeilingApproved(20);
        _execute(address(settlement), raise, "a");
        (uint64 perHour,) = lens().ceiling();
        assertEq(perHour, 1e6, "still lowered");
        assertEq(settlement.approvedCeiling(), 20, "approved");
        expectError(ISettlement.CeilingNotHigher.selector, 15, 20);
        this.executeAs(address(settlement), older, "older");
        expectError(ISettlement.CeilingNotHigher.selector, 20, 20);
        this.executeAs(address(settlement), raise, "again");
        _restore(20);
        (perHour,) = lens().ceiling();
        assertEq(perHour, 20e6, "restored");
    }

    function executeAs(address target, bytes calldata data, bytes32 salt) external {
        _execute(target, data, salt);
    }

    function test_refundsDoNotReduceTheCeilingOfPayments() public {
        _settle(_sale(1));
        _refund(1, SALE);
        (, uint64 settled) = lens().ceiling();
        assertEq(settled, SALE, "settled");
        (uint64 perHour, uint64 paid) = lens().outflow();
        assertEq(perHour, 10e6, "as much as may settle");
        assertEq(paid, SALE, "paid");
    }

    function test_refundsStayBelowTheCeilingOfTheHour() public {
        _twoHoursOfSales();
        for (uint64 i = 1; i <= 4; ++i) {
            _refund(i, SALE);
        }
        // The hour is full: not even one more atom is refunded, whichever merchant made the sale.
        _expectOutflow(1, 0);
        _refund(5, 1);
        assertEq(settlement.refundsOf(5), 0, "a refused refund leaves no trace");
        (, uint64 paid) = lens().outflow();
        assertEq(paid, 10e6, "refunded in the hour");
        vm.warp(block.timestamp / 1 hours * 1 hours + 1 hours - 1);
        _expectOutflow(1, 0);
        _refund(5, 1);
        vm.warp(block.timestamp + 1);
        (, paid) = lens().outflow();
        assertEq(paid, 0, "the next hour");
        _refund(5, SALE);
    }

    /// @dev A withdrawal pays the merchant's own wallet, so a ceiling would protect no one.
    function test_withdrawalsHaveNoCeilingAndDoNotReduceThatOfRefunds() public {
        address wallet = _twoHoursOfSales();
        _lower(3);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, wallet, 12e6, 1);
        (uint64 perHour, uint64 paid) = lens().outflow();
        assertEq(perHour, 3e6, "lowered");
        assertEq(paid, 0, "withdrawals count nowhere");
        _refund(1, SALE);
        _lower(0);
        _expectOutflow(1, 0);
        _refund(2, 1);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, wallet, 1, 2);
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, 5e6);
    }

    function test_aCeilingBelowTheRefundsOfTheHourAllowsNoMore() public {
        _twoHoursOfSales();
        _refund(1, SALE);
        _refund(2, SALE);
        _lower(4);
        _expectOutflow(1, 0);
        _refund(3, 1);
        // A raised ceiling still counts the atoms refunded before.
        _restore(7);
        _expectOutflow(SALE, 2e6);
        _refund(3, SALE);
        _refund(3, 2e6);
    }

    /// @dev 65,536 hours are seven and a half years.
    function test_theOutflowOfAnOldHourNeverCountsAgain() public {
        _twoHoursOfSales();
        for (uint64 i = 1; i <= 4; ++i) {
            _refund(i, SALE);
        }
        vm.warp(block.timestamp + 65_536 hours);
        for (uint64 i = 5; i <= 8; ++i) {
            _refund(i, SALE);
        }
        (, uint64 paid) = lens().outflow();
        assertEq(paid, 10e6, "of this hour");
    }

    function test_pausingRefundsKeepsTheOutflowOfTheHour() public {
        _twoHoursOfSales();
        for (uint64 i = 1; i <= 3; ++i) {
            _refund(i, SALE);
        }
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        vm.prank(STEWARD);
        settlement.unpauseRefunding();
        _refund(4, SALE - 1);
        _expectOutflow(SALE, 1);
        _refund(5, SALE);
    }

    /// @dev A permanent refusal comes first, because waiting for the next hour would not help.
    function test_aPermanentRefusalOfARefundIsNamedFirst() public {
        _twoHoursOfSales();
        for (uint64 i = 1; i <= 4; ++i) {
            _refund(i, SALE);
        }
        expectError(ISettlement.RefundTooHigh.selector, SALE + 1, SALE);
        _refund(5, SALE + 1);
    }

    function test_noBalanceOverflowsItsField() public {
        bytes32 slot = _slotOf(merchant);
        uint256 word = uint256(vm.load(address(settlement), slot));
        uint256 most = type(uint56).max;
        uint256 low = word & ((uint256(1) << 200) - 1);
        vm.store(address(settlement), slot, bytes32(low | ((most - SALE) << 200)));
        assertEq(_balanceOf(merchant), most - SALE, "the slot");
        assertEq(_settleOne(_sale(1)), Reason.NONE, "the last that fits");
        expectError(ISettlement.MerchantBalanceTooHigh.selector, merchant);
        this.settleOne(_packed(2, payer, merchant, 1));
        assertEq(_balanceOf(merchant), most, "no atom more");
    }

    function settleOne(bytes calldata payment) external returns (uint8) {
        return _settleOne(payment);
    }

    /// @dev Finds the slot by recording which one a read of the account touches.
    function _slotOf(uint32 merchant_) private returns (bytes32) {
        vm.record();
        settlement.merchantAccount(merchant_);
        (bytes32[] memory reads,) = vm.accesses(address(settlement));
        return reads[0];
    }

    /// @dev Not from the call: otherwise a guardian could extend the hold forever.
    function test_aHoldIsCountedFromTheRegistration() public {
        uint32 registered = uint32(block.timestamp);
        _hold(registered + 20 days);
        vm.warp(registered + 15 days);
        expectError(
            ISettlement.HoldTooLong.selector, registered + 30 days + 1, registered + 30 days
        );
        _hold(registered + 30 days + 1);
        _hold(registered + 30 days);
    }

    /// @dev Gives the merchant 20 USDC after its hold has ended. @return wallet The merchant's.
    function _twoHoursOfSales() private returns (address wallet) {
        for (uint64 i = 1; i <= 4; ++i) {
            _settleOne(_sale(i));
        }
        vm.warp(block.timestamp + HOLD);
        for (uint64 i = 5; i <= 8; ++i) {
            _settleOne(_sale(i));
        }
        assertEq(_balanceOf(merchant), 20e6, "the balance");
        return vm.addr(WALLET_KEY);
    }

    /// @dev Refunds the sale with this number, which settled in the batch of that number.
    function _refund(uint64 number, uint64 amount) private {
        for (uint64 i = uint64(range.batches) + 1; i <= number; ++i) {
            range.append(keccak256(_sale(i)));
        }
        bytes memory payment = _sale(number);
        bytes32[] memory path = range.pathOf(number, number);
        vm.prank(OPERATOR);
        settlement.refund(number, payment, path, amount, 0, 0);
    }

    function _expectOutflow(uint256 attempted, uint256 available) private {
        expectError(ISettlement.OutflowCeilingReached.selector, attempted, available);
    }

    function test_aNewMerchantIsNotPaidOutBeforeItsHoldEnds() public {
        _settle(_sale(1));
        address wallet = vm.addr(WALLET_KEY);
        (,, uint32 heldUntil) = settlement.merchantAccount(merchant);
        assertEq(heldUntil, block.timestamp + HOLD, "held until");
        vm.warp(heldUntil - 1);
        bytes memory held =
            abi.encodeWithSelector(ISettlement.PayoutsAreHeld.selector, heldUntil - 1, heldUntil);
        vm.expectRevert(held);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, wallet, 1, 1);
        vm.expectRevert(held);
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, 1);
        vm.warp(heldUntil);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, wallet, 1, 1);
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, 1);
    }

    function test_aHeldMerchantStillRefunds() public {
        _settle(_sale(1));
        bytes memory payment = _sale(1);
        vm.prank(OPERATOR);
        settlement.refund(1, payment, new bytes32[](0), SALE, 0, 0);
    }

    function test_theGuardianExtendsAHoldToThirtyDaysInAllAndNoFurther() public {
        uint32 registered = uint32(_now());
        _settle(_sale(1));
        vm.expectRevert();
        vm.prank(STEWARD);
        settlement.holdPayouts(merchant, registered + 2 days);
        expectError(
            ISettlement.HoldTooLong.selector, registered + 30 days + 1, registered + 30 days
        );
        _hold(registered + 30 days + 1);
        vm.warp(registered + HOLD - 1);
        _hold(registered + 2 days);
        expectError(ISettlement.HoldNotExtended.selector, registered + 1 days, registered + 2 days);
        _hold(registered + 1 days);
        expectError(ISettlement.HoldNotExtended.selector, registered + 2 days, registered + 2 days);
        _hold(registered + 2 days);
        _hold(registered + 30 days);
        assertEq(_balanceOf(merchant), SALE, "the balance stays");
        vm.warp(registered + 30 days);
        expectError(ISettlement.HoldHasEnded.selector, registered + 30 days, registered + 30 days);
        _hold(registered + 31 days);
        vm.prank(vm.addr(WALLET_KEY));
        settlement.withdrawOwn(merchant, SALE);
    }

    function test_aNewWalletIsPaidOutAfterTheHoldOnly() public {
        uint256 key = 0x4e4577;
        _settle(_sale(1));
        _hold(uint32(_now() + 30 days));
        bytes memory signature = _signWalletConsent(key, merchant, block.timestamp);
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, vm.addr(key), block.timestamp, signature);
        uint256 heldUntil = block.timestamp + 30 days;
        vm.warp(block.timestamp + WALLET_DELAY);
        settlement.applyWallet(merchant);
        expectError(ISettlement.PayoutsAreHeld.selector, block.timestamp, heldUntil);
        vm.prank(vm.addr(key));
        settlement.withdrawOwn(merchant, 1);
    }

    function test_aHoldThatHasEndedCannotBeginAgain() public {
        vm.warp(block.timestamp + HOLD);
        expectError(ISettlement.HoldHasEnded.selector, block.timestamp, block.timestamp);
        _hold(uint32(_now() + 1 days));
    }

    /// @dev SECURITY.md: an operator's key and one merchant account. 400 payers, 200 USDC each.
    function test_aStolenOperatorKeyIsBoundByTheCeilingAndTheHold() public {
        bytes memory payments;
        for (uint64 i = 1; i <= 400; ++i) {
            payments = bytes.concat(payments, _packed(i, _goodPayer(10_000 + i), merchant, 200e6));
        }
        _lower(1);
        _settle(payments);
        assertEq(_balanceOf(merchant), 0, "nothing above the ceiling");
        _settle(_packed(1_000, payer, merchant, 1e6));
        address wallet = vm.addr(WALLET_KEY);
        vm.expectRevert();
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, wallet, 1e6, 1);
    }
}
