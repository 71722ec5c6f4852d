// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";
import {Vm} from "./TestBase.sol";

/// @title Settles one payment separately, under its payer's policy. The other tests cover the rest:
/// the fixture settles every second payment in this way.
contract SettleSeparatelyTest is SettlementFixture {
    function test_leavesTheSameStateAsABatchOfOne() public {
        _settle(_sale(1));
        uint256 snapshot = vm.snapshotState();
        (Vm.Log[] memory logs, bytes32[] memory writes) = _watch(false);
        bytes32[] memory values = _valuesOf(writes);
        vm.revertToState(snapshot);
        (Vm.Log[] memory separately, bytes32[] memory same) = _watch(true);
        assertEq(_hash(separately), _hash(logs), "events");
        assertEq(keccak256(abi.encode(same)), keccak256(abi.encode(writes)), "slots");
        assertEq(
            keccak256(abi.encode(_valuesOf(same))), keccak256(abi.encode(values)), "their values"
        );
        assertTrue(writes.length >= 5, "bit, policy, merchant, ledger and root");
    }

    function test_aFailureHasItsReasonAndWritesNothing() public {
        vm.record();
        vm.expectEmit();
        emit ISettlement.PaymentFailed(2, Reason.POLICY_MISSING);
        uint8 reason = _separately(_packed(2, STRANGER, merchant, SALE));
        assertEq(reason, Reason.POLICY_MISSING, "reason");
        (, bytes32[] memory writes) = vm.accesses(address(settlement));
        assertEq(writes.length, 0, "slots written");
        assertEq(lens().batchCount(), 0, "no batch for nothing");
    }

    function test_onlyOperatorsSettleSeparately() public {
        bytes memory payment = _sale(1);
        bytes32 role = settlement.OPERATOR_ROLE();
        _expectRole(STRANGER, role);
        vm.prank(STRANGER);
        settlement.settlePaymentSeparately(payment, _now());
    }

    function test_nothingSettlesWhilePausedOrAfterTheDeadline() public {
        bytes memory payment = _sale(1);
        uint40 validUntil = _now() - 1;
        expectError(ISettlement.PaymentsTooLate.selector, block.timestamp, validUntil);
        vm.prank(OPERATOR);
        settlement.settlePaymentSeparately(payment, validUntil);
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        vm.expectRevert(ISettlement.SettlingIsPaused.selector);
        vm.prank(OPERATOR);
        settlement.settlePaymentSeparately(payment, _now());
    }

    function test_takesExactlyOnePayment() public {
        bytes memory two = bytes.concat(_sale(1), _sale(2));
        expectError(ISettlement.NotOnePayment.selector, 2);
        vm.prank(OPERATOR);
        settlement.settlePaymentSeparately(two, _now());
        expectError(ISettlement.PaymentsMalformed.selector, 0, 45);
        vm.prank(OPERATOR);
        settlement.settlePaymentSeparately("", _now());
    }

    function _watch(bool alone) private returns (Vm.Log[] memory logs, bytes32[] memory writes) {
        vm.recordLogs();
        vm.record();
        if (alone) assertEq(_separately(_sale(2)), Reason.NONE, "reason");
        else assertEq(_settle(_sale(2)).length, 0, "reasons");
        (, writes) = vm.accesses(address(settlement));
        logs = vm.getRecordedLogs();
    }

    function _valuesOf(bytes32[] memory slots) private view returns (bytes32[] memory values) {
        values = new bytes32[](slots.length);
        for (uint256 i = 0; i < slots.length; ++i) {
            values[i] = vm.load(address(settlement), slots[i]);
        }
    }

    function _hash(Vm.Log[] memory logs) private pure returns (bytes32) {
        assertEq(logs.length, 2, "the token's event and ours");
        return keccak256(abi.encode(logs));
    }
}
