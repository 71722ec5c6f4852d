// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {ITimelock} from "../artifacts/ITimelock.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

/// @title Only guardians cancel operations of the timelock, however many are scheduled.
contract TimelockTest is SettlementFixture {
    ITimelock private admin;
    bytes32 private proposer;
    bytes32 private canceller;

    function setUp() public override {
        super.setUp();
        admin = timelock();
        (proposer, canceller) = (admin.PROPOSER_ROLE(), admin.CANCELLER_ROLE());
    }

    function _one(bytes32 id) private pure returns (bytes32[] memory ids) {
        ids = new bytes32[](1);
        ids[0] = id;
    }

    function _cancel(bytes32[] memory ids) private {
        vm.prank(GUARDIAN);
        settlement.cancelOperations(ids);
    }

    function test_onlyTheSettlementContractCancelsAndOnlyForGuardians() public {
        address[6] memory others =
            [PROPOSER, OTHER_PROPOSER, GUARDIAN, STEWARD, address(this), address(admin)];
        for (uint256 i = 0; i < others.length; ++i) {
            assertTrue(!admin.hasRole(canceller, others[i]), "no canceller");
        }
        assertTrue(admin.hasRole(canceller, address(settlement)), "the contract");
        assertTrue(admin.hasRole(0, address(admin)), "its own admin");
        assertTrue(!admin.hasRole(0, address(settlement)), "and the only one");
        assertTrue(admin.hasRole(admin.EXECUTOR_ROLE(), address(0)), "anyone executes");
        assertTrue(!admin.hasRole(admin.PROPOSER_ROLE(), address(0)), "and that role alone is open");
        assertTrue(!admin.hasRole(canceller, address(0)), "not the canceller's");
        assertEq(admin.getMinDelay(), GOVERNANCE_DELAY, "delay");
        bytes32 id = _schedule(address(settlement), "", "a");
        _expectRole(PROPOSER, canceller);
        vm.prank(PROPOSER);
        admin.cancel(id);
        vm.expectEmit();
        emit ITimelock.Cancelled(id);
        _cancel(_one(id));
        assertTrue(!admin.isOperation(id), "canceled");
    }

    function test_oneTransactionStopsTwoHundredOperations() public {
        bytes32 role = settlement.OPERATOR_ROLE();
        bytes memory data = abi.encodeCall(settlement.grantRole, (role, STRANGER));
        bytes32[] memory ids = new bytes32[](200);
        for (uint256 i = 0; i < ids.length; ++i) {
            ids[i] = _schedule(address(settlement), data, bytes32(i + 1));
        }
        uint256 before = gasleft();
        _cancel(ids);
        // A transaction may use at most 16,777,216 gas (EIP-7825).
        assertTrue(before - gasleft() < 4_000_000, "in one transaction");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        for (uint256 i = 0; i < ids.length; ++i) {
            vm.expectRevert();
            this.executeAs(address(settlement), data, bytes32(i + 1));
        }
    }

    function executeAs(address target, bytes calldata data, bytes32 salt) external {
        _execute(target, data, salt);
    }

    function test_operationsThatAreNotPendingDoNotStopACancellation() public {
        bytes32[] memory ids = new bytes32[](4);
        bytes memory lower = abi.encodeCall(settlement.setRates, (ISettlement.Rates(1, 1, 1)));
        ids[0] = _schedule(address(settlement), lower, "done");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _execute(address(settlement), lower, "done");
        ids[1] = _schedule(address(settlement), "", "canceled");
        _cancel(_one(ids[1]));
        ids[2] = keccak256("never scheduled");
        ids[3] = _schedule(address(settlement), "", "waits");
        _cancel(ids);
        assertTrue(admin.isOperationDone(ids[0]), "done stays done");
        assertTrue(!admin.isOperation(ids[3]), "the one that waits is gone");
    }

    /// @dev The thief has one of two proposers' keys, and acts before each step of the owner.
    function test_aStolenProposerCannotKeepItsRole() public {
        bytes memory removal = abi.encodeCall(admin.revokeRole, (proposer, PROPOSER));
        vm.prank(OTHER_PROPOSER);
        admin.schedule(address(admin), 0, removal, 0, "owner", GOVERNANCE_DELAY);
        bytes32 owners = admin.hashOperation(address(admin), 0, removal, 0, "owner");
        vm.expectRevert();
        vm.prank(PROPOSER);
        admin.cancel(owners);
        bytes memory theft = abi.encodeCall(admin.revokeRole, (proposer, OTHER_PROPOSER));
        bytes32[] memory flood = new bytes32[](50);
        for (uint256 round = 0; round < 3; ++round) {
            for (uint256 i = 0; i < flood.length; ++i) {
                bytes32 salt = keccak256(abi.encode(round, i));
                flood[i] = _schedule(address(admin), theft, salt);
            }
            _cancel(flood);
        }
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _execute(address(admin), removal, "owner");
        assertTrue(!admin.hasRole(proposer, PROPOSER), "the thief is out");
        assertTrue(admin.hasRole(proposer, OTHER_PROPOSER), "the owner is in");
        vm.expectRevert();
        vm.prank(PROPOSER);
        admin.schedule(address(admin), 0, theft, 0, "late", GOVERNANCE_DELAY);
    }

    function test_aGuardianCancelsEveryOperationOfAProposer() public {
        bytes32 guardian = settlement.GUARDIAN_ROLE();
        bytes[7] memory own = [
            abi.encodeCall(admin.updateDelay, (0)),
            abi.encodeCall(admin.updateDelay, (type(uint256).max)),
            abi.encodeCall(admin.grantRole, (canceller, PROPOSER)),
            abi.encodeCall(admin.revokeRole, (canceller, address(settlement))),
            abi.encodeCall(admin.grantRole, (proposer, STRANGER)),
            abi.encodeCall(admin.grantRole, (bytes32(0), STRANGER)),
            abi.encodeCall(admin.revokeRole, (proposer, OTHER_PROPOSER))
        ];
        bytes[4] memory ofSettlement = [
            abi.encodeCall(settlement.raiseCeiling, (CEILING)),
            abi.encodeCall(settlement.setRates, (ISettlement.Rates(300, 0, 0))),
            abi.encodeCall(settlement.revokeRole, (guardian, GUARDIAN)),
            abi.encodeCall(settlement.grantRole, (guardian, STRANGER))
        ];
        bytes32[] memory ids = new bytes32[](11);
        for (uint256 i = 0; i < 7; ++i) {
            ids[i] = _schedule(address(admin), own[i], "a");
        }
        for (uint256 i = 0; i < 4; ++i) {
            ids[7 + i] = _schedule(address(settlement), ofSettlement[i], "a");
        }
        // Cancels with a ceiling of 0, and in the same second in which the operations become ready.
        vm.prank(GUARDIAN);
        settlement.lowerCeiling(0);
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _cancel(ids);
        for (uint256 i = 0; i < ids.length; ++i) {
            assertTrue(!admin.isOperation(ids[i]), "canceled");
        }
    }

    function test_anOperationLapsesSevenDaysAfterItCouldBeExecuted() public {
        bytes memory data = abi.encodeCall(settlement.setRates, (ISettlement.Rates(1, 1, 1)));
        bytes32 id = _schedule(address(settlement), data, "a");
        uint256 until = block.timestamp + GOVERNANCE_DELAY + 7 days;
        vm.warp(until);
        assertTrue(admin.isOperationReady(id), "in its last second");
        vm.warp(until + 1);
        assertTrue(!admin.isOperation(id), "lapsed");
        vm.expectRevert(
            abi.encodeWithSelector(
                ITimelock.TimelockUnexpectedOperationState.selector, id, bytes32(uint256(4))
            )
        );
        this.executeAs(address(settlement), data, "a");
        // The operation can be scheduled again, and then waits again.
        assertEq(_schedule(address(settlement), data, "a"), id, "the same operation");
        assertTrue(!admin.isOperationReady(id), "it waits");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _execute(address(settlement), data, "a");
        vm.warp(block.timestamp + 365 days);
        assertTrue(admin.isOperationDone(id), "what was done stays done");
    }

    function test_theDelayStaysWithinItsBoundsWhateverAnOperationSets() public {
        uint256[4] memory wanted = [uint256(0), type(uint256).max, 20 days, 8 days];
        uint256[4] memory expected = [uint256(GOVERNANCE_DELAY), 30 days, 20 days, 8 days];
        for (uint256 i = 0; i < wanted.length; ++i) {
            bytes memory data = abi.encodeCall(admin.updateDelay, (wanted[i]));
            uint256 delay = admin.getMinDelay();
            vm.prank(PROPOSER);
            admin.schedule(address(admin), 0, data, 0, bytes32(i), delay);
            vm.warp(block.timestamp + delay);
            _execute(address(admin), data, bytes32(i));
            assertEq(admin.getMinDelay(), expected[i], "delay");
        }
        expectError(ITimelock.TimelockInsufficientDelay.selector, 8 days - 1, 8 days);
        vm.prank(PROPOSER);
        admin.schedule(address(admin), 0, "", 0, "short", 8 days - 1);
    }
}
