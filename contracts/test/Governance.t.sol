// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {ITestUSDC} from "../artifacts/ITestUSDC.sol";
import {ITimelock} from "../artifacts/ITimelock.sol";
import {SettlementFixture} from "./SettlementFixture.sol";
import {TestBase} from "./TestBase.sol";

/// @dev A second address of a token: a transfer through it moves the token's balances.
contract SecondAddress is TestBase {
    ITestUSDC private immutable TOKEN;

    constructor(ITestUSDC token) {
        TOKEN = token;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return TOKEN.balanceOf(owner);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        vm.prank(msg.sender);
        return TOKEN.transfer(to, amount);
    }
}

contract GovernanceTest is SettlementFixture {
    function test_eachRoleStartsWithOneHolder() public view {
        bytes32[6] memory roles = [
            settlement.OPERATOR_ROLE(),
            settlement.REGISTRAR_ROLE(),
            settlement.GUARDIAN_ROLE(),
            settlement.TREASURER_ROLE(),
            settlement.WATCH_ROLE(),
            settlement.STEWARD_ROLE()
        ];
        address[7] memory holders =
            [OPERATOR, REGISTRAR, GUARDIAN, TREASURER, WATCHER, STEWARD, PROPOSER];
        for (uint256 i = 0; i < roles.length; ++i) {
            for (uint256 j = 0; j < holders.length; ++j) {
                assertTrue(settlement.hasRole(roles[i], holders[j]) == (i == j), "role");
            }
            assertEq(settlement.getRoleAdmin(roles[i]), bytes32(0), "granted by the admin");
        }
        assertTrue(settlement.hasRole(0, address(timelock())), "the timelock is the admin");
        assertEq(settlement.TOKEN(), address(token), "token");
        assertEq(settlement.WALLET_DELAY(), WALLET_DELAY, "wallet delay");
    }

    function test_operatorsAreGrantedThroughTheTimelockAndRevokedByTheStewardAtOnce() public {
        bytes32 role = settlement.OPERATOR_ROLE();
        _expectRole(STEWARD, bytes32(0));
        vm.prank(STEWARD);
        settlement.grantRole(role, STRANGER);
        _grant(role, STRANGER);
        vm.prank(STEWARD);
        settlement.revokeRole(role, OPERATOR);
        bytes memory payment = _sale(1);
        _expectRole(OPERATOR, role);
        vm.prank(OPERATOR);
        settlement.settleBatch(payment, _now());
        vm.prank(STRANGER);
        settlement.settleBatch(payment, _now());
    }

    function test_theStewardRevokesEveryRoleButItsOwnAndTheAdmins() public {
        bytes32 steward = settlement.STEWARD_ROLE();
        bytes32[5] memory roles = [
            settlement.OPERATOR_ROLE(),
            settlement.REGISTRAR_ROLE(),
            settlement.GUARDIAN_ROLE(),
            settlement.TREASURER_ROLE(),
            settlement.WATCH_ROLE()
        ];
        address[5] memory holders = [OPERATOR, REGISTRAR, GUARDIAN, TREASURER, WATCHER];
        for (uint256 i = 0; i < roles.length; ++i) {
            _expectRole(PROPOSER, bytes32(0));
            vm.prank(PROPOSER);
            settlement.revokeRole(roles[i], holders[i]);
            vm.prank(STEWARD);
            settlement.revokeRole(roles[i], holders[i]);
            assertTrue(!settlement.hasRole(roles[i], holders[i]), "revoked");
        }
        _expectRole(STEWARD, bytes32(0));
        vm.prank(STEWARD);
        settlement.revokeRole(steward, STEWARD);
        _expectRole(STEWARD, bytes32(0));
        vm.prank(STEWARD);
        settlement.revokeRole(bytes32(0), address(0x77));
        _govern(abi.encodeCall(settlement.revokeRole, (steward, STEWARD)));
        assertTrue(!settlement.hasRole(steward, STEWARD), "by an operation");
    }

    function test_theOnlyAdminCannotChange() public {
        address admin = address(timelock());
        bytes[3] memory calls = [
            abi.encodeCall(settlement.grantRole, (bytes32(0), STRANGER)),
            abi.encodeCall(settlement.revokeRole, (bytes32(0), admin)),
            abi.encodeCall(settlement.renounceRole, (bytes32(0), admin))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.prank(admin);
            (bool done, bytes memory answer) = address(settlement).call(calls[i]);
            assertTrue(!done, "refused");
            assertEq(bytes32(answer), bytes32(ISettlement.AdminStays.selector), "why");
        }
    }

    function test_theGuardianOnlyPausesAndTheStewardOnlyUnpauses() public {
        bytes32 guardian = settlement.GUARDIAN_ROLE();
        bytes32 steward = settlement.STEWARD_ROLE();
        _expectRole(STEWARD, guardian);
        vm.prank(STEWARD);
        settlement.pauseSettling();
        _expectRole(STEWARD, guardian);
        vm.prank(STEWARD);
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
        _expectRole(GUARDIAN, steward);
        vm.prank(GUARDIAN);
        settlement.unpauseSettling();
        _expectRole(GUARDIAN, steward);
        vm.prank(GUARDIAN);
        settlement.unpauseRefunding();
        vm.expectEmit();
        emit ISettlement.SettlingPaused(STEWARD, false);
        vm.prank(STEWARD);
        settlement.unpauseSettling();
        assertTrue(!lens().settlingPaused() && lens().refundingPaused(), "refunding only");
        vm.expectEmit();
        emit ISettlement.RefundingPaused(STEWARD, false);
        vm.prank(STEWARD);
        settlement.unpauseRefunding();
        assertTrue(!lens().refundingPaused(), "none");
    }

    function test_aWatcherPausesBothAndDoesNothingElse() public {
        bytes32 role = settlement.OPERATOR_ROLE();
        bytes[12] memory others = [
            abi.encodeCall(settlement.unpauseSettling, ()),
            abi.encodeCall(settlement.unpauseRefunding, ()),
            abi.encodeCall(settlement.lowerCeiling, (1)),
            abi.encodeCall(settlement.restoreCeiling, (CEILING)),
            abi.encodeCall(settlement.raiseCeiling, (CEILING)),
            abi.encodeCall(settlement.holdPayouts, (merchant, uint32(_now() + 1 days))),
            abi.encodeCall(settlement.dropWalletChanges, ()),
            abi.encodeCall(settlement.cancelOperations, (new bytes32[](0))),
            abi.encodeCall(settlement.setRates, (ISettlement.Rates(1, 1, 1))),
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

    function test_noOperatorRegistrarOrTreasurerChangesRulesOrCancelsOperations() public {
        bytes32 id = _schedule(address(settlement), "", "a");
        bytes32[] memory ids = new bytes32[](1);
        ids[0] = id;
        bytes[5] memory calls = [
            abi.encodeCall(settlement.setRates, (ISettlement.Rates(1, 1, 1))),
            abi.encodeCall(settlement.raiseCeiling, (CEILING)),
            abi.encodeCall(settlement.restoreCeiling, (CEILING)),
            abi.encodeCall(settlement.unpauseSettling, ()),
            abi.encodeCall(settlement.cancelOperations, (ids))
        ];
        address[5] memory others = [OPERATOR, REGISTRAR, TREASURER, PROPOSER, STRANGER];
        for (uint256 i = 0; i < calls.length; ++i) {
            for (uint256 j = 0; j < others.length; ++j) {
                vm.prank(others[j]);
                (bool done,) = address(settlement).call(calls[i]);
                assertTrue(!done, "refused");
            }
        }
        assertTrue(timelock().isOperationPending(id), "it still waits");
    }

    function test_aWatcherIsRevokedAtOnce() public {
        bytes32 role = settlement.WATCH_ROLE();
        vm.prank(STEWARD);
        settlement.revokeRole(role, WATCHER);
        bytes32 guardian = settlement.GUARDIAN_ROLE();
        _expectRole(WATCHER, guardian);
        vm.prank(WATCHER);
        settlement.pauseSettling();
        _expectRole(WATCHER, guardian);
        vm.prank(WATCHER);
        settlement.pauseRefunding();
    }

    function test_eachPauseLeavesTheOtherUnchanged() public {
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        assertTrue(lens().settlingPaused() && lens().refundingPaused(), "both");
        vm.prank(STEWARD);
        settlement.unpauseRefunding();
        assertTrue(lens().settlingPaused() && !lens().refundingPaused(), "settling");
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        vm.prank(STEWARD);
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

    function test_newRatesWaitForTheTimelock() public {
        bytes memory data = abi.encodeCall(settlement.setRates, (ISettlement.Rates(40, 10, 10)));
        _expectRole(PROPOSER, bytes32(0));
        vm.prank(PROPOSER);
        settlement.setRates(ISettlement.Rates(40, 10, 10));
        bytes32 id = _schedule(address(settlement), data, "a");
        vm.warp(block.timestamp + GOVERNANCE_DELAY - 1);
        _expectState(id, READY);
        this.executeAs(address(settlement), data, "a");
        assertEq(lens().rates().acquirer, 30, "still the old one");
        vm.warp(block.timestamp + 1);
        vm.expectEmit();
        emit ISettlement.RatesApplied(40, 10, 10);
        _execute(address(settlement), data, "a");
        _settle(_sale(1));
        (uint64 acquirerFees, uint64 protocolFees) = lens().bookedFees();
        assertEq(acquirerFees, 10_000, "acquirer fees");
        assertEq(protocolFees, 0, "protocol fees less cashback");
        _expectState(id, READY);
        this.executeAs(address(settlement), data, "a");
    }

    function executeAs(address target, bytes calldata data, bytes32 salt) external {
        _execute(target, data, salt);
    }

    bytes32 private constant READY = bytes32(uint256(1) << 2);

    function _expectState(bytes32 id, bytes32 states) private {
        vm.expectRevert(
            abi.encodeWithSelector(ITimelock.TimelockUnexpectedOperationState.selector, id, states)
        );
    }

    function test_ratesAreCapped() public {
        address admin = address(timelock());
        expectError(ISettlement.FeeRateTooHigh.selector, 301, 300);
        vm.prank(admin);
        settlement.setRates(ISettlement.Rates(281, 20, 5));
        expectError(ISettlement.CashbackAboveProtocolRate.selector, 21, 20);
        vm.prank(admin);
        settlement.setRates(ISettlement.Rates(280, 20, 21));
        vm.prank(admin);
        settlement.setRates(ISettlement.Rates(280, 20, 20));
        assertEq(lens().rates().acquirer, 280, "acquirer rate");
    }

    function test_deploymentKeepsTheSameLimits() public {
        ISettlement.Setup memory setup = _setup();
        setup.rates = ISettlement.Rates(300, 1, 0);
        expectError(ISettlement.FeeRateTooHigh.selector, 301, 300);
        this.deployWith(setup);
        setup = _setup();
        setup.proposers = new address[](0);
        expectError(ISettlement.AddressInvalid.selector, address(0));
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
        bytes memory data = abi.encodeCall(settlement.grantRole, (role, STRANGER));
        bytes32 id = _schedule(address(settlement), data, "a");
        vm.warp(block.timestamp + GOVERNANCE_DELAY - 1);
        _expectState(id, READY);
        this.executeAs(address(settlement), data, "a");
        vm.warp(block.timestamp + 1);
        _execute(address(settlement), data, "a");
        assertTrue(settlement.hasRole(role, STRANGER), "granted");
        vm.prank(STEWARD);
        settlement.revokeRole(role, STRANGER);
        assertTrue(!settlement.hasRole(role, STRANGER), "revoked at once");
        // One operation grants once.
        _expectState(id, READY);
        this.executeAs(address(settlement), data, "a");
    }

    function test_theTreasurerSweepsStrayTokensOnly() public {
        ITestUSDC stray = ITestUSDC(deploy("TestUSDC", abi.encode(ADMIN)));
        stray.mint(address(settlement), 77);
        _expectRole(ADMIN, settlement.TREASURER_ROLE());
        vm.prank(ADMIN);
        settlement.sweep(address(stray), STRANGER);
        expectError(ISettlement.AddressInvalid.selector, address(token));
        vm.prank(TREASURER);
        settlement.sweep(address(token), STRANGER);
        address[2] memory unpayable = [address(0), address(settlement)];
        for (uint256 i = 0; i < unpayable.length; ++i) {
            expectError(ISettlement.AddressInvalid.selector, unpayable[i]);
            vm.prank(TREASURER);
            settlement.sweep(address(stray), unpayable[i]);
        }
        vm.prank(TREASURER);
        settlement.sweep(address(stray), STRANGER);
        assertEq(stray.balanceOf(STRANGER), 77, "swept");
    }

    function test_aTokenWithASecondAddressIsNotSwept() public {
        token.mint(address(settlement), 5);
        SecondAddress second = new SecondAddress(token);
        expectError(ISettlement.AddressInvalid.selector, address(second));
        vm.prank(TREASURER);
        settlement.sweep(address(second), STRANGER);
        assertEq(token.balanceOf(address(settlement)), 5, "it stays");
    }

    function test_deploymentRefusesTheZeroAddressAndNoCeiling() public {
        bytes memory invalid =
            abi.encodeWithSelector(ISettlement.AddressInvalid.selector, address(0));
        for (uint256 i = 0; i < 5; ++i) {
            ISettlement.Setup memory setup = _setup();
            if (i == 0) setup.operators[1] = address(0);
            if (i == 1) setup.registrar = address(0);
            if (i == 2) setup.guardians[1] = address(0);
            if (i == 3) setup.treasurer = address(0);
            if (i == 4) setup.steward = address(0);
            vm.expectRevert(invalid);
            this.deployWith(setup);
        }
        vm.expectRevert(invalid);
        this.deployOn(address(0), _setup());
        // A call to it would succeed, so an authorized sale would be booked without money.
        expectError(ISettlement.AddressInvalid.selector, address(0x70));
        this.deployOn(address(0x70), _setup());
        ISettlement.Setup memory open = _setup();
        open.hourlyCeiling = 0;
        vm.expectRevert(ISettlement.CeilingZero.selector);
        this.deployWith(open);
        open = _setup();
        open.payoutHold = 30 days + 1;
        expectError(ISettlement.HoldTooLong.selector, 30 days + 1, 30 days);
        this.deployWith(open);
        open.payoutHold = 30 days;
        this.deployWith(open);
    }

    function test_aContractIsDeployedWithAGuardianAtLeastAndNoneTwice() public {
        ISettlement.Setup memory setup = _setup();
        setup.guardians = new address[](0);
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        this.deployWith(setup);
        // A duplicate would count as one guardian.
        setup = _setup();
        setup.guardians[1] = GUARDIAN;
        expectError(ISettlement.AddressInvalid.selector, GUARDIAN);
        this.deployWith(setup);
    }

    function test_theLastGuardianStaysWhicheverAccountRevokesIt() public {
        bytes32 role = settlement.GUARDIAN_ROLE();
        assertEq(settlement.guardians(), 2, "guardians");
        vm.prank(STEWARD);
        settlement.revokeRole(role, OTHER_GUARDIAN);
        // A guardian that was already revoked is not counted twice.
        vm.prank(STEWARD);
        settlement.revokeRole(role, OTHER_GUARDIAN);
        assertEq(settlement.guardians(), 1, "one is left");
        address[2] memory revokers = [STEWARD, address(timelock())];
        for (uint256 i = 0; i < revokers.length; ++i) {
            vm.expectRevert(ISettlement.LastGuardianStays.selector);
            vm.prank(revokers[i]);
            settlement.revokeRole(role, GUARDIAN);
        }
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        vm.prank(GUARDIAN);
        settlement.renounceRole(role, GUARDIAN);
        _grant(role, STRANGER);
        vm.prank(GUARDIAN);
        settlement.renounceRole(role, GUARDIAN);
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        vm.prank(STEWARD);
        settlement.revokeRole(role, STRANGER);
    }

    /// @dev An operation scheduled while there were two guardians cannot revoke the last one.
    function test_anEarlierOperationCannotRevokeTheLastGuardian() public {
        bytes32 role = settlement.GUARDIAN_ROLE();
        bytes memory first = abi.encodeCall(settlement.revokeRole, (role, GUARDIAN));
        bytes memory second = abi.encodeCall(settlement.revokeRole, (role, OTHER_GUARDIAN));
        _schedule(address(settlement), first, "a");
        _schedule(address(settlement), second, "b");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _execute(address(settlement), first, "a");
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        this.executeAs(address(settlement), second, "b");
    }

    function test_theTreasurerCollectsTheBookedFees() public {
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

    function test_onlyTheTreasurerCollectsFeesUpToTheBookedSum() public {
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
            expectError(ISettlement.AddressInvalid.selector, unpayable[i]);
            vm.prank(TREASURER);
            settlement.collectFees(unpayable[i], 1, 1);
        }
        _expectRole(ADMIN, settlement.TREASURER_ROLE());
        vm.prank(ADMIN);
        settlement.collectFees(ADMIN, 1, 1);
    }
}
