// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {ITestUSDC} from "../artifacts/ITestUSDC.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract GovernanceTest is SettlementFixture {
    function _expectRole(address account, bytes32 role) private {
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.AccessControlUnauthorizedAccount.selector, account, role
            )
        );
    }

    function test_eachRoleStartsWithItsHolderOnly() public view {
        bytes32[5] memory roles = [
            settlement.OPERATOR_ROLE(),
            settlement.REGISTRAR_ROLE(),
            settlement.GUARDIAN_ROLE(),
            settlement.TREASURER_ROLE(),
            settlement.WATCH_ROLE()
        ];
        address[6] memory holders = [OPERATOR, REGISTRAR, GUARDIAN, TREASURER, WATCHER, ADMIN];
        for (uint256 i = 0; i < roles.length; ++i) {
            for (uint256 j = 0; j < holders.length; ++j) {
                assertTrue(settlement.hasRole(roles[i], holders[j]) == (i == j), "role");
            }
            assertEq(settlement.getRoleAdmin(roles[i]), bytes32(0), "granted by the admin");
        }
        assertEq(settlement.defaultAdmin(), ADMIN, "admin");
        assertEq(settlement.TOKEN(), address(token), "token");
        assertEq(settlement.RATES_DELAY(), RATES_DELAY, "rates delay");
        assertEq(settlement.WALLET_DELAY(), WALLET_DELAY, "wallet delay");
    }

    function test_theAdminAddsAndRemovesOperators() public {
        bytes32 role = settlement.OPERATOR_ROLE();
        _expectRole(OPERATOR, bytes32(0));
        vm.prank(OPERATOR);
        settlement.grantRole(role, STRANGER);
        vm.prank(ADMIN);
        settlement.announceGrant(role, STRANGER);
        vm.warp(block.timestamp + RATES_DELAY);
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
        vm.prank(ADMIN);
        settlement.revokeRole(role, OPERATOR);
        bytes memory payment = _sale(1);
        _expectRole(OPERATOR, role);
        vm.prank(OPERATOR);
        settlement.settleBatch(payment, _now());
        vm.prank(STRANGER);
        settlement.settleBatch(payment, _now());
    }

    function test_theAdminIsHandedOverInTwoDelayedSteps() public {
        vm.prank(ADMIN);
        settlement.beginDefaultAdminTransfer(STRANGER);
        uint48 schedule = uint48(block.timestamp) + ADMIN_DELAY;
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.AccessControlEnforcedDefaultAdminDelay.selector, schedule
            )
        );
        vm.prank(STRANGER);
        settlement.acceptDefaultAdminTransfer();
        vm.warp(schedule + 1);
        vm.prank(STRANGER);
        settlement.acceptDefaultAdminTransfer();
        assertEq(settlement.defaultAdmin(), STRANGER, "admin");
    }

    function test_theGuardianOnlyPausesAndTheAdminOnlyUnpauses() public {
        bytes32 guardian = settlement.GUARDIAN_ROLE();
        _expectRole(ADMIN, guardian);
        vm.prank(ADMIN);
        settlement.pauseSettling();
        _expectRole(ADMIN, guardian);
        vm.prank(ADMIN);
        settlement.pauseRefunding();
        vm.expectEmit();
        emit ISettlement.SettlingPaused(GUARDIAN, true);
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        assertTrue(lens().settlingPaused() && !lens().refundingPaused(), "settling only");
        vm.expectEmit();
        emit ISettlement.RefundingPaused(GUARDIAN, true);
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        assertTrue(lens().settlingPaused() && lens().refundingPaused(), "both");
        _expectRole(GUARDIAN, bytes32(0));
        vm.prank(GUARDIAN);
        settlement.unpauseSettling();
        _expectRole(GUARDIAN, bytes32(0));
        vm.prank(GUARDIAN);
        settlement.unpauseRefunding();
        vm.expectEmit();
        emit ISettlement.SettlingPaused(ADMIN, false);
        vm.prank(ADMIN);
        settlement.unpauseSettling();
        assertTrue(!lens().settlingPaused() && lens().refundingPaused(), "refunding only");
        vm.expectEmit();
        emit ISettlement.RefundingPaused(ADMIN, false);
        vm.prank(ADMIN);
        settlement.unpauseRefunding();
        assertTrue(!lens().refundingPaused(), "none");
    }

    function test_aWatcherPausesBothAndDoesNothingElse() public {
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(40, 10, 10));
        bytes32 role = settlement.OPERATOR_ROLE();
        vm.prank(ADMIN);
        settlement.announceGrant(role, STRANGER);
        bytes[13] memory others = [
            abi.encodeCall(settlement.unpauseSettling, ()),
            abi.encodeCall(settlement.unpauseRefunding, ()),
            abi.encodeCall(settlement.lowerCeiling, (1)),
            abi.encodeCall(settlement.restoreCeiling, (CEILING)),
            abi.encodeCall(settlement.scheduleCeiling, (CEILING)),
            abi.encodeCall(settlement.holdPayouts, (merchant, _now() + 1 days)),
            abi.encodeCall(settlement.dropWalletChanges, ()),
            abi.encodeCall(settlement.cancelRates, ()),
            abi.encodeCall(settlement.cancelGrant, (role, STRANGER)),
            abi.encodeCall(settlement.announceGrant, (role, WATCHER)),
            abi.encodeCall(settlement.revokeRole, (role, OPERATOR)),
            abi.encodeCall(settlement.settleBatch, (_sale(1), _now())),
            abi.encodeCall(settlement.collectFees, (WATCHER, 0, 0))
        ];
        for (uint256 i = 0; i < others.length; ++i) {
            vm.prank(WATCHER);
            (bool done, bytes memory answer) = address(settlement).call(others[i]);
            assertTrue(!done, "refused");
            bytes4 why = ISettlement.AccessControlUnauthorizedAccount.selector;
            assertEq(bytes32(answer), bytes32(why), "for want of a role");
        }
        vm.prank(WATCHER);
        settlement.pauseSettling();
        assertTrue(lens().settlingPaused() && !lens().refundingPaused(), "settling only");
        vm.prank(WATCHER);
        settlement.pauseRefunding();
        assertTrue(lens().settlingPaused() && lens().refundingPaused(), "both");
    }

    function test_aWatcherIsRevokedAtOnce() public {
        bytes32 role = settlement.WATCH_ROLE();
        vm.prank(ADMIN);
        settlement.revokeRole(role, WATCHER);
        bytes32 guardian = settlement.GUARDIAN_ROLE();
        _expectRole(WATCHER, guardian);
        vm.prank(WATCHER);
        settlement.pauseSettling();
        _expectRole(WATCHER, guardian);
        vm.prank(WATCHER);
        settlement.pauseRefunding();
    }

    function test_eitherPauseLeavesTheOtherAsItWas() public {
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        assertTrue(lens().settlingPaused() && lens().refundingPaused(), "both");
        vm.prank(ADMIN);
        settlement.unpauseRefunding();
        assertTrue(lens().settlingPaused() && !lens().refundingPaused(), "settling");
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        vm.prank(ADMIN);
        settlement.unpauseSettling();
        assertTrue(!lens().settlingPaused() && lens().refundingPaused(), "refunding");
    }

    function test_pausingKeepsRatesFeesAndBatches() public {
        _settle(_sale(1));
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(acquirerFees, 7_500, "acquirer fees");
        assertEq(protocolFees, 3_750, "protocol fees");
        assertEq(lens().rates().acquirer, 30, "rate");
        assertEq(lens().batchCount(), 1, "batches");
    }

    function test_newRatesWaitForTheirDelay() public {
        uint256 from = block.timestamp + RATES_DELAY;
        vm.expectEmit();
        emit ISettlement.RatesScheduled(40, 10, 10, uint48(from));
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(40, 10, 10));
        vm.warp(from - 1);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.TooEarly.selector, from - 1, from));
        settlement.applyRates();
        assertEq(lens().rates().acquirer, 30, "still the old one");
        vm.warp(from);
        vm.expectEmit();
        emit ISettlement.RatesApplied(40, 10, 10);
        settlement.applyRates();
        _settle(_sale(1));
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(acquirerFees, 10_000, "acquirer fees");
        assertEq(protocolFees, 0, "protocol fees less cashback");
        vm.expectRevert(ISettlement.NoRatesScheduled.selector);
        settlement.applyRates();
    }

    function test_aNewAnnouncementReplacesTheOldOne() public {
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(1, 1, 1));
        vm.warp(block.timestamp + RATES_DELAY);
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(2, 2, 2));
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.TooEarly.selector, block.timestamp, block.timestamp + RATES_DELAY
            )
        );
        settlement.applyRates();
        (ISettlement.Rates memory scheduled, uint48 applicableAt) = settlement.scheduledRates();
        assertEq(scheduled.acquirer, 2, "scheduled");
        assertEq(applicableAt, block.timestamp + RATES_DELAY, "applicable at");
    }

    function test_ratesAreCapped() public {
        vm.expectRevert(abi.encodeWithSelector(ISettlement.FeeRateTooHigh.selector, 301, 300));
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(281, 20, 5));
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.CashbackAboveProtocolRate.selector, 21, 20)
        );
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(280, 20, 21));
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(280, 20, 20));
        _expectRole(OPERATOR, bytes32(0));
        vm.prank(OPERATOR);
        settlement.scheduleRates(ISettlement.Rates(1, 1, 1));
    }

    function test_deploymentKeepsTheSameLimits() public {
        ISettlement.Setup memory setup = _setup();
        setup.rates = ISettlement.Rates(300, 1, 0);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.FeeRateTooHigh.selector, 301, 300));
        this.deployWith(setup);
        setup = _setup();
        setup.admin = address(0);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.AccessControlInvalidDefaultAdmin.selector, address(0)
            )
        );
        this.deployWith(setup);
    }

    function deployWith(ISettlement.Setup calldata setup) external {
        this.deployOn(address(token), setup);
    }

    function deployOn(address token_, ISettlement.Setup calldata setup) external {
        deploy("Settlement", abi.encode(token_, setup));
    }

    function test_grantingWaitsAndRevokingDoesNot() public {
        bytes32 role = settlement.OPERATOR_ROLE();
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.NoGrantAnnounced.selector, role, STRANGER)
        );
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
        _expectRole(OPERATOR, bytes32(0));
        vm.prank(OPERATOR);
        settlement.announceGrant(role, STRANGER);
        uint48 from = uint48(block.timestamp) + RATES_DELAY;
        vm.expectEmit();
        emit ISettlement.GrantAnnounced(role, STRANGER, from);
        vm.prank(ADMIN);
        settlement.announceGrant(role, STRANGER);
        assertEq(settlement.announcedGrant(role, STRANGER), from, "announced");
        vm.warp(from - 1);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.TooEarly.selector, from - 1, from));
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
        vm.warp(from);
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
        assertTrue(settlement.hasRole(role, STRANGER), "granted");
        vm.prank(ADMIN);
        settlement.revokeRole(role, STRANGER);
        assertTrue(!settlement.hasRole(role, STRANGER), "revoked at once");
        // One announcement is good for one grant.
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.NoGrantAnnounced.selector, role, STRANGER)
        );
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
    }

    function test_announcementsLapseAndCanBeDropped() public {
        bytes32 role = settlement.TREASURER_ROLE();
        vm.prank(ADMIN);
        settlement.announceGrant(role, STRANGER);
        vm.prank(ADMIN);
        settlement.scheduleRates(ISettlement.Rates(40, 10, 10));
        uint256 until = block.timestamp + RATES_DELAY + settlement.ANNOUNCEMENT_LIFE();
        vm.warp(until + 1);
        bytes memory lapsed =
            abi.encodeWithSelector(ISettlement.Lapsed.selector, until + 1, until);
        vm.expectRevert(lapsed);
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
        vm.expectRevert(lapsed);
        settlement.applyRates();
        vm.expectRevert();
        vm.prank(STRANGER);
        settlement.cancelRates();
        vm.expectEmit();
        emit ISettlement.RatesCanceled(GUARDIAN);
        vm.prank(GUARDIAN);
        settlement.cancelRates();
        vm.expectRevert(ISettlement.NoRatesScheduled.selector);
        vm.prank(ADMIN);
        settlement.cancelRates();
        vm.expectRevert();
        vm.prank(STRANGER);
        settlement.cancelGrant(role, STRANGER);
        vm.prank(ADMIN);
        settlement.cancelGrant(role, STRANGER);
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.NoGrantAnnounced.selector, role, STRANGER)
        );
        vm.prank(GUARDIAN);
        settlement.cancelGrant(role, STRANGER);
    }

    function test_theTreasurerSweepsStrayTokensOnly() public {
        ITestUSDC stray = ITestUSDC(deploy("TestUSDC", abi.encode(ADMIN)));
        stray.mint(address(settlement), 77);
        _expectRole(ADMIN, settlement.TREASURER_ROLE());
        vm.prank(ADMIN);
        settlement.sweep(address(stray), STRANGER);
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.AddressInvalid.selector, address(token))
        );
        vm.prank(TREASURER);
        settlement.sweep(address(token), STRANGER);
        address[2] memory unpayable = [address(0), address(settlement)];
        for (uint256 i = 0; i < unpayable.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(ISettlement.AddressInvalid.selector, unpayable[i])
            );
            vm.prank(TREASURER);
            settlement.sweep(address(stray), unpayable[i]);
        }
        vm.prank(TREASURER);
        settlement.sweep(address(stray), STRANGER);
        assertEq(stray.balanceOf(STRANGER), 77, "swept");
    }

    function test_deploymentRefusesNobodyAndNoCeiling() public {
        bytes memory invalid =
            abi.encodeWithSelector(ISettlement.AddressInvalid.selector, address(0));
        for (uint256 i = 0; i < 4; ++i) {
            ISettlement.Setup memory setup = _setup();
            if (i == 0) setup.operators[1] = address(0);
            if (i == 1) setup.registrar = address(0);
            if (i == 2) setup.guardians[1] = address(0);
            if (i == 3) setup.treasurer = address(0);
            vm.expectRevert(invalid);
            this.deployWith(setup);
        }
        vm.expectRevert(invalid);
        this.deployOn(address(0), _setup());
        ISettlement.Setup memory open = _setup();
        open.hourlyCeiling = 0;
        vm.expectRevert(ISettlement.CeilingZero.selector);
        this.deployWith(open);
        open = _setup();
        open.payoutHold = 30 days + 1;
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.HoldTooLong.selector, 30 days + 1, 30 days)
        );
        this.deployWith(open);
        open.payoutHold = 30 days;
        this.deployWith(open);
    }

    function test_aContractIsDeployedWithAGuardianAtLeast() public {
        ISettlement.Setup memory setup = _setup();
        setup.guardians = new address[](0);
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        this.deployWith(setup);
        // The same one twice is one.
        setup = _setup();
        setup.guardians[1] = GUARDIAN;
        ISettlement one = ISettlement(deploy("Settlement", abi.encode(token, setup)));
        (uint16 count,) = one.guardians();
        assertEq(count, 1, "guardians");
    }

    function test_theLastGuardianIsRevokedOnlyAfterTheDelay() public {
        bytes32 role = settlement.GUARDIAN_ROLE();
        (uint16 count, uint48 revocableAt) = settlement.guardians();
        assertEq(count, 2, "guardians");
        assertEq(revocableAt, 0, "nothing is announced");
        vm.prank(ADMIN);
        settlement.revokeRole(role, OTHER_GUARDIAN);
        // Who is none any more counts once.
        vm.prank(ADMIN);
        settlement.revokeRole(role, OTHER_GUARDIAN);
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        vm.prank(ADMIN);
        settlement.revokeRole(role, GUARDIAN);
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        vm.prank(GUARDIAN);
        settlement.renounceRole(role, GUARDIAN);
        _expectRole(GUARDIAN, bytes32(0));
        vm.prank(GUARDIAN);
        settlement.announceLastRevocation();
        uint48 from = uint48(block.timestamp) + RATES_DELAY;
        vm.expectEmit();
        emit ISettlement.LastRevocationAnnounced(from);
        vm.prank(ADMIN);
        settlement.announceLastRevocation();
        vm.warp(from - 1);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.TooEarly.selector, from - 1, from));
        vm.prank(ADMIN);
        settlement.revokeRole(role, GUARDIAN);
        (count, revocableAt) = settlement.guardians();
        assertEq(count, 1, "it still stops what it has to");
        assertEq(revocableAt, from, "announced");
        vm.warp(from);
        vm.prank(ADMIN);
        settlement.revokeRole(role, GUARDIAN);
        assertTrue(!settlement.hasRole(role, GUARDIAN), "revoked");
        (count, revocableAt) = settlement.guardians();
        assertEq(uint256(count) + revocableAt, 0, "used up");
    }

    function test_anAnnouncedLastRevocationLapses() public {
        bytes32 role = settlement.GUARDIAN_ROLE();
        vm.prank(ADMIN);
        settlement.announceLastRevocation();
        vm.prank(ADMIN);
        settlement.revokeRole(role, OTHER_GUARDIAN);
        uint256 until = block.timestamp + RATES_DELAY + settlement.ANNOUNCEMENT_LIFE();
        vm.warp(until + 1);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.Lapsed.selector, until + 1, until));
        vm.prank(ADMIN);
        settlement.revokeRole(role, GUARDIAN);
    }

    function test_aGrantedGuardianMakesTheOtherOneFreeToGo() public {
        bytes32 role = settlement.GUARDIAN_ROLE();
        vm.prank(ADMIN);
        settlement.revokeRole(role, OTHER_GUARDIAN);
        vm.prank(ADMIN);
        settlement.announceGrant(role, STRANGER);
        vm.warp(block.timestamp + RATES_DELAY);
        vm.prank(ADMIN);
        settlement.grantRole(role, STRANGER);
        vm.prank(GUARDIAN);
        settlement.renounceRole(role, GUARDIAN);
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        vm.prank(ADMIN);
        settlement.revokeRole(role, STRANGER);
    }

    function test_theTreasurerCollectsWhatIsBooked() public {
        _settle(_sale(1));
        vm.expectEmit();
        emit ISettlement.FeesCollected(STRANGER, 7_000, 3_750);
        vm.prank(TREASURER);
        settlement.collectFees(STRANGER, 7_000, 3_750);
        assertEq(token.balanceOf(STRANGER), 10_750, "collected");
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(acquirerFees, 500, "acquirer fees left");
        assertEq(protocolFees, 0, "protocol fees left");
        assertEq(token.balanceOf(address(settlement)), uint256(SALE) + 500, "the rest stays");
    }

    function test_feesAreCollectedByTheTreasurerWithinWhatIsBooked() public {
        _settle(_sale(1));
        bytes4 insufficient = ISettlement.InsufficientFees.selector;
        vm.expectRevert(abi.encodeWithSelector(insufficient, 7_501, 7_500));
        vm.prank(TREASURER);
        settlement.collectFees(STRANGER, 7_501, 0);
        vm.expectRevert(abi.encodeWithSelector(insufficient, 3_751, 3_750));
        vm.prank(TREASURER);
        settlement.collectFees(STRANGER, 0, 3_751);
        address[2] memory unpayable = [address(0), address(settlement)];
        for (uint256 i = 0; i < unpayable.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(ISettlement.AddressInvalid.selector, unpayable[i])
            );
            vm.prank(TREASURER);
            settlement.collectFees(unpayable[i], 1, 1);
        }
        _expectRole(ADMIN, settlement.TREASURER_ROLE());
        vm.prank(ADMIN);
        settlement.collectFees(ADMIN, 1, 1);
    }
}
