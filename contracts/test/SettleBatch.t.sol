// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {ISettlementLens} from "../artifacts/ISettlementLens.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract SettleBatchTest is SettlementFixture {
    function test_merchantGetsTheWholeSaleAndPayerPaysFeesLessCashback() public {
        uint256 before = token.balanceOf(payer);
        assertEq(_settleOne(_sale(1)), Reason.NONE, "reason");
        assertEq(_balanceOf(merchant), SALE, "merchant");
        assertEq(before - token.balanceOf(payer), PULLED, "payer");
        assertEq(token.balanceOf(address(settlement)), PULLED, "contract");
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(acquirerFees, 7_500, "acquirer fees");
        assertEq(protocolFees, 3_750, "protocol fees less cashback");
        assertTrue(settlement.isSettled(1), "settled");
        assertEq(lens().batchCount(), 1, "batches");
    }

    function test_theEventHasEveryFieldOfThePayment() public {
        vm.expectEmit();
        emit ISettlement.PaymentSettled(
            7,
            payer,
            bytes17(abi.encodePacked(merchant, SALE, bytes8("ORDER-1"))),
            (uint256(1) << 192) | (uint256(7_500) << 128) | (uint256(5_000) << 64) | 1_250
        );
        _settle(_sale(7));
    }

    function test_everyFailureHasItsReasonAndFailsAlone() public {
        _settle(_sale(1));
        address poor = _goodPayer(11);
        vm.prank(poor);
        token.transfer(STRANGER, 1e13 - 1);
        address closed = _goodPayer(12);
        vm.prank(closed);
        token.approve(address(settlement), PULLED - 1);
        address blocked = _goodPayer(13);
        vm.prank(ADMIN);
        token.setBlocked(blocked, true);
        address revoked = _goodPayer(14);
        vm.prank(revoked);
        settlement.revokePolicy();
        bytes memory payments = bytes.concat(
            _sale(1),
            _packed(2, payer, merchant, 0),
            abi.encodePacked(uint64(3), payer, merchant, SALE, bytes8(0)),
            _packed(4, payer, 99, SALE),
            _packed(5, STRANGER, merchant, SALE),
            _packed(6, revoked, merchant, SALE),
            _packed(7, poor, merchant, SALE),
            _packed(8, closed, merchant, SALE),
            _packed(9, blocked, merchant, SALE),
            _sale(10)
        );
        uint8[10] memory expected = [
            Reason.ALREADY_SETTLED,
            Reason.AMOUNT_INVALID,
            Reason.ORDER_ID_INVALID,
            Reason.MERCHANT_UNKNOWN,
            Reason.POLICY_MISSING,
            Reason.POLICY_REVOKED,
            Reason.INSUFFICIENT_FUNDS,
            Reason.INSUFFICIENT_ALLOWANCE,
            Reason.TRANSFER_REFUSED,
            Reason.NONE
        ];
        uint8[] memory foreseen = lens().preflight(payments);
        bytes memory reasons = _settle(payments);
        for (uint256 i = 0; i < expected.length; ++i) {
            assertEq(uint8(reasons[i]), expected[i], "reason");
            assertEq(foreseen[i], expected[i], "preflight");
        }
        assertEq(_balanceOf(merchant), 2 * uint256(SALE), "the two good payments");
    }

    function test_aFailedPaymentEmitsItsReasonAndWritesNothing() public {
        _settle(_sale(1));
        vm.record();
        vm.expectEmit();
        emit ISettlement.PaymentFailed(2, Reason.POLICY_MISSING);
        _settle(_packed(2, STRANGER, merchant, SALE));
        (, bytes32[] memory writes) = vm.accesses(address(settlement));
        assertEq(writes.length, 0, "slots written");
        assertTrue(!settlement.isSettled(2), "number stays unused");
        assertEq(lens().batchCount(), 1, "no batch for nothing");
    }

    function test_aFailedNumberCanSettleLater() public {
        vm.prank(payer);
        token.approve(address(settlement), 0);
        assertEq(_settleOne(_sale(1)), Reason.INSUFFICIENT_ALLOWANCE, "first");
        vm.prank(payer);
        token.approve(address(settlement), PULLED);
        assertEq(_settleOne(_sale(1)), Reason.NONE, "second");
        assertEq(token.allowance(payer, address(settlement)), 0, "nothing more was taken");
    }

    function test_aNumberSettlesOnceEvenWithinOneBatch() public {
        bytes memory reasons = _settle(bytes.concat(_sale(300), _sale(5), _sale(300), _sale(5)));
        assertEq(uint8(reasons[0]), Reason.NONE, "first 300");
        assertEq(uint8(reasons[1]), Reason.NONE, "first 5");
        assertEq(uint8(reasons[2]), Reason.ALREADY_SETTLED, "second 300");
        assertEq(uint8(reasons[3]), Reason.ALREADY_SETTLED, "second 5");
        assertEq(_balanceOf(merchant), 2 * uint256(SALE), "paid twice at most");
    }

    function test_merchantsAreCreditedInAnyOrder() public {
        _settle(
            bytes.concat(
                _packed(1, payer, merchant, 10),
                _packed(2, payer, otherMerchant, 200),
                _packed(3, payer, merchant, 3_000),
                _packed(4, payer, 99, 1),
                _packed(5, payer, merchant, 40_000)
            )
        );
        assertEq(_balanceOf(merchant), 43_010, "first merchant");
        assertEq(_balanceOf(otherMerchant), 200, "second merchant");
        assertEq(_balanceOf(99), 0, "unknown merchant");
    }

    function test_amountsFromOneAtomToAMillionDollars() public {
        assertEq(_settleOne(_packed(1, payer, merchant, 1)), Reason.NONE, "one atom");
        assertEq(_settleOne(_packed(2, payer, merchant, 1e12)), Reason.NONE, "the highest");
        assertEq(_settleOne(_packed(3, payer, merchant, 1e12 + 1)), Reason.AMOUNT_INVALID, "above");
    }

    function test_aPolicyCapsEachPaymentAndEachDay() public {
        ISettlement.Policy memory policy = _widePolicy();
        (policy.perPayment, policy.perPeriod) = (SALE, 2 * uint48(SALE));
        vm.prank(payer);
        settlement.setPolicy(policy);
        bytes memory over = _packed(1, payer, merchant, SALE + 1);
        assertEq(_settleOne(over), Reason.PAYMENT_CAP_EXCEEDED, "above the cap per payment");
        bytes memory reasons =
            _settle(bytes.concat(_sale(2), _sale(3), _packed(4, payer, merchant, 1)));
        assertEq(uint8(reasons[1]), Reason.NONE, "up to the cap per period");
        assertEq(uint8(reasons[2]), Reason.PERIOD_CAP_EXCEEDED, "one atom above it");
        vm.warp(20_001 days - 1);
        assertEq(_settleOne(_packed(5, payer, merchant, 1)), Reason.PERIOD_CAP_EXCEEDED, "same day");
        vm.warp(20_001 days);
        assertEq(_settleOne(_sale(6)), Reason.NONE, "a new UTC day");
    }

    function test_policyExpiresToTheSecond() public {
        ISettlement.Policy memory policy = _widePolicy();
        policy.expiresAt = uint40(block.timestamp) + 60;
        vm.prank(payer);
        settlement.setPolicy(policy);
        vm.warp(block.timestamp + 59);
        assertEq(_settleOne(_sale(1)), Reason.NONE, "the last second");
        vm.warp(block.timestamp + 1);
        assertEq(_settleOne(_sale(2)), Reason.POLICY_EXPIRED, "expired");
    }

    function test_aPayerPaysNoHigherFeesThanAgreed() public {
        ISettlement.Policy memory policy = _widePolicy();
        policy.maxFeeRate = 49;
        vm.prank(payer);
        settlement.setPolicy(policy);
        assertEq(_settleOne(_sale(1)), Reason.FEES_ABOVE_POLICY, "reason");
    }

    function test_onlyOperatorsSettle() public {
        bytes32 role = settlement.OPERATOR_ROLE();
        bytes memory payment = _sale(1);
        _expectRole(STRANGER, role);
        vm.prank(STRANGER);
        settlement.settleBatch(payment, _now());
        vm.prank(OTHER_OPERATOR);
        settlement.settleBatch(payment, _now());
    }

    function test_nothingSettlesWhilePaused() public {
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        bytes memory payment = _sale(1);
        vm.expectRevert(ISettlement.SettlingIsPaused.selector);
        vm.prank(OPERATOR);
        settlement.settleBatch(payment, _now());
        vm.expectRevert(ISettlement.SettlingIsPaused.selector);
        lens().preflight(payment);
    }

    function test_feesThatOverflowTheirFieldRevertTheBatch() public {
        _bookAcquirerFees(2 ** 52 - 1 - 7_500);
        assertEq(_settleOne(_sale(1)), Reason.NONE, "up to the last atom");
        bytes memory payment = _sale(2);
        expectError(ISettlement.FeesTooHigh.selector, uint256(2 ** 52 - 1) + 7_500, 7_500);
        vm.prank(OPERATOR);
        settlement.settleBatch(payment, _now());
    }

    /// @dev Writes the fees directly into the ledger, because no test could earn so many. The
    /// ledger is in the slot that pausing writes.
    function _bookAcquirerFees(uint64 fees) private {
        vm.record();
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        (, bytes32[] memory writes) = vm.accesses(address(settlement));
        vm.prank(STEWARD);
        settlement.unpauseSettling();
        bytes32 ledger = vm.load(address(settlement), writes[0]);
        vm.store(address(settlement), writes[0], ledger | bytes32(uint256(fees) << 152));
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(acquirerFees, fees, "booked");
        assertEq(protocolFees, 0, "nothing else");
    }

    function test_nothingSettlesAfterItsDeadline() public {
        bytes memory payment = _sale(1);
        uint40 validUntil = _now() + 60;
        vm.warp(validUntil + 1);
        expectError(ISettlement.PaymentsTooLate.selector, uint256(validUntil) + 1, validUntil);
        vm.prank(OPERATOR);
        settlement.settleBatch(payment, validUntil);
        vm.warp(validUntil);
        vm.prank(OPERATOR);
        settlement.settleBatch(payment, validUntil);
        assertTrue(settlement.isSettled(1), "settled in the last second");
    }

    function test_malformedBatchesAreRefused() public {
        bytes[3] memory malformed = [bytes(""), new bytes(44), new bytes(91)];
        for (uint256 i = 0; i < malformed.length; ++i) {
            expectError(ISettlement.PaymentsMalformed.selector, malformed[i].length, 45);
            vm.prank(OPERATOR);
            settlement.settleBatch(malformed[i], _now());
        }
        expectError(ISettlement.TooManyPayments.selector, 401, 400);
        vm.prank(OPERATOR);
        settlement.settleBatch(new bytes(401 * 45), _now());
    }

    function test_aFullBatchSettles() public {
        bytes memory payments;
        for (uint64 i = 1; i <= 400; ++i) {
            payments = bytes.concat(payments, _sale(i));
        }
        assertEq(_settle(payments).length, 0, "all settled");
        assertEq(_balanceOf(merchant), 400 * uint256(SALE), "merchant");
    }

    function test_payerAccountReturnsEveryField() public {
        _settle(_sale(1));
        address[] memory payers = new address[](2);
        (payers[0], payers[1]) = (payer, STRANGER);
        assertEq(lens().payerAccounts(payers)[0].balance, 1e13 - PULLED, "balance");
        assertEq(lens().payerAccounts(payers)[0].allowance, type(uint256).max - PULLED, "allowance");
        assertEq(lens().payerAccounts(payers)[0].spent, SALE, "spent");
        assertEq(lens().payerAccounts(payers)[0].nonce, 1, "nonce");
        assertEq(lens().payerAccounts(payers)[1].expiresAt, 0, "no policy");
        vm.warp(20_001 days);
        assertEq(lens().payerAccount(payer).spent, 0, "spent on a new day");
    }

    function testFuzz_feesAreRoundedDownAndBooksBalance(uint40 amount) public {
        amount = uint40(bound(amount, 1, 1e12));
        assertEq(_settleOne(_packed(1, payer, merchant, amount)), Reason.NONE, "reason");
        uint256 acquirerFee = uint256(amount) * 30 / 10_000;
        uint256 protocolFee = uint256(amount) * 20 / 10_000;
        uint256 cashback = uint256(amount) * 5 / 10_000;
        uint256 pulled = amount + acquirerFee + protocolFee - cashback;
        (uint256 a, uint256 p, uint256 c, uint256 quoted) = lens().quote(amount);
        assertEq(a, acquirerFee, "quoted acquirer fee");
        assertEq(p, protocolFee, "quoted protocol fee");
        assertEq(c, cashback, "quoted cashback");
        assertEq(quoted, pulled, "quoted pull");
        assertEq(1e13 - token.balanceOf(payer), pulled, "payer");
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(_balanceOf(merchant) + acquirerFees + protocolFees, pulled, "books");
    }

    /// @dev Circle can pause its token, and block this contract.
    function test_preflightReportsThatTheTokenRefusesEveryTransfer() public {
        bytes memory payments = bytes.concat(_sale(1), _packed(2, payer, 99, SALE));
        vm.prank(ADMIN);
        token.setPaused(true);
        _expectStopped(payments);
        vm.prank(ADMIN);
        token.setPaused(false);
        vm.prank(ADMIN);
        token.setBlocked(address(settlement), true);
        _expectStopped(payments);
        vm.prank(ADMIN);
        token.setBlocked(address(settlement), false);
        assertEq(lens().preflight(payments)[0], Reason.NONE, "good again");
    }

    function _expectStopped(bytes memory payments) private {
        uint8[] memory reasons = lens().preflight(payments);
        assertEq(reasons[0], Reason.TRANSFER_REFUSED, "foreseen");
        assertEq(reasons[1], Reason.MERCHANT_UNKNOWN, "its own reason comes first");
        bytes memory actual = _settle(payments);
        assertEq(uint8(actual[0]), reasons[0], "as it comes");
    }
}
