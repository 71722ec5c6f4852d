// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {RangeModel} from "./RangeModel.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract BatchRangeTest is SettlementFixture {
    using RangeModel for RangeModel.Range;

    RangeModel.Range private range;

    /// @dev Settles the sale with this number as a batch of one.
    function _settleNext(uint64 number) private {
        _settle(_sale(number));
        range.append(keccak256(_sale(number)));
    }

    function _settleTo(uint64 last) private {
        for (uint64 i = uint64(range.batches) + 1; i <= last; ++i) {
            _settleNext(i);
        }
    }

    /// @dev Refunds one atom of sale `number`, which settled in the batch of that number, by node
    /// `top`.
    function _refund(uint64 number, uint256 top) private {
        bytes32[] memory path = range.pathOf(number, top);
        bytes memory payment = _sale(number);
        uint64 before = settlement.refundsOf(number);
        vm.prank(OPERATOR);
        settlement.refund(RangeModel.indexOf(top), payment, path, 1, before, 0);
    }

    function _expectRefusal(uint64 number, uint256 top) private {
        bytes memory refusal = abi.encodeWithSelector(
            ISettlement.PaymentNotProved.selector, number, RangeModel.indexOf(top)
        );
        bytes32[] memory path = range.pathOf(number, top);
        bytes memory payment = _sale(number);
        vm.expectRevert(refusal);
        vm.prank(OPERATOR);
        settlement.refund(RangeModel.indexOf(top), payment, path, 1, 0, 0);
    }

    function test_everyNodeEqualsTheModel() public {
        for (uint64 i = 1; i <= 520; ++i) {
            _settleNext(i);
            uint256 index = RangeModel.indexOf(i);
            assertEq(settlement.rangeNode(index), range.nodeOf(i), "the node that it wrote");
        }
        for (uint64 i = 1; i <= 520; ++i) {
            bool isThere = settlement.rangeNode(RangeModel.indexOf(i)) == range.nodeOf(i);
            assertTrue(isThere == range.keeps(i), "kept until it is overwritten");
        }
    }

    /// @dev Guarantees that a proof stays valid for the next 128 batches.
    function test_everyBatchLiesBelowANodeThatStaysForMoreThan128Batches() public {
        uint64 last = 420;
        _settleTo(last);
        uint256[] memory chosen = new uint256[](last + 1);
        for (uint64 i = 1; i <= last; ++i) {
            uint256 top = i;
            while (RangeModel.above(top) <= last) top = RangeModel.above(top);
            chosen[i] = top;
        }
        _settleTo(last + 128);
        for (uint64 i = 1; i <= last; ++i) {
            assertTrue(range.keeps(chosen[i]), "still kept");
            _refund(i, chosen[i]);
        }
    }

    function test_aSaleIsProvedByItsOwnBatchFor256Batches() public {
        _settleTo(301);
        uint64[4] memory numbers = [uint64(129), 130, 132, 192];
        for (uint256 i = 0; i < numbers.length; ++i) {
            _settleTo(numbers[i] + 255);
            _refund(numbers[i], numbers[i]);
            _settleTo(numbers[i] + 256);
            _expectRefusal(numbers[i], numbers[i]);
        }
    }

    function test_aPeakProvesUntilTheNextOneOfItsHeight() public {
        // Batch 384 overwrites node 128, and batch 768 overwrites node 256.
        _settleTo(383);
        _refund(5, 128);
        _refund(5, 256);
        _settleTo(384);
        _expectRefusal(5, 128);
        _refund(5, 256);
        _settleTo(512);
        _refund(5, 256);
        _refund(5, 512);
        _settleTo(768);
        _expectRefusal(5, 256);
        _refund(5, 512);
        _refund(700, 768);
    }

    function test_aNodeProvesOnlyItsOwnPayments() public {
        _settleTo(8);
        // Batch 3 is below nodes 4 and 8, not below node 6.
        _refund(3, 3);
        _refund(3, 4);
        _refund(3, 8);
        _expectRefusal(3, 6);
        _expectRefusal(3, 7);
        bytes32[] memory path = range.pathOf(3, 4);
        bytes memory payment = _sale(3);
        uint256[3] memory others = [uint256(8), 0, 256 + 35];
        for (uint256 i = 0; i < others.length; ++i) {
            expectError(ISettlement.PaymentNotProved.selector, 3, others[i]);
            vm.prank(OPERATOR);
            settlement.refund(others[i], payment, path, 1, 1, 0);
        }
        vm.expectRevert();
        vm.prank(OPERATOR);
        settlement.refund(256 + 36, payment, path, 1, 1, 0);
    }

    /// @dev An inner node cannot pass as a payment: its preimage has 64 bytes, a payment's 45.
    function test_anInnerNodeCannotPassAsAPayment() public {
        _settleTo(2);
        bytes memory children = abi.encodePacked(keccak256(_sale(1)), keccak256(_sale(2)));
        vm.expectRevert();
        vm.prank(OPERATOR);
        settlement.refund(2, children, new bytes32[](0), 1, 0, 0);
        assertEq(
            settlement.rangeNode(2),
            Hashes.commutativeKeccak256(keccak256(_sale(1)), keccak256(_sale(2))),
            "the node of both"
        );
    }

    /// @dev Nothing can be proved by the empty ring, or by heights that no batch has reached.
    function test_withoutBatchesNothingIsProved() public {
        bytes memory payment = _sale(1);
        for (uint256 index = 0; index < 292; index += 97) {
            expectError(ISettlement.PaymentNotProved.selector, 1, index);
            vm.prank(OPERATOR);
            settlement.refund(index, payment, new bytes32[](0), 1, 0, 0);
        }
    }

    function test_proofsWorkAfterTwoMillionBatches() public {
        uint64 first = 2 ** 21 - 3;
        _beginAt(settlement, range, first - 1);
        for (uint64 i = first; i < first + 300; ++i) {
            _settleNext(i);
            assertEq(
                settlement.rangeNode(RangeModel.indexOf(i)), range.nodeOf(i), "the node it wrote"
            );
        }
        assertEq(lens().batchCount(), first + 299, "batches");
        _refund(first + 1, 2 ** 21);
        assertEq(range.pathOf(first, 2 ** 21).length, 21, "nodes on the path");
    }

    function testFuzz_aProofHoldsWhileItsNodeIsKept(uint64 start, uint8 more, uint8 which) public {
        uint64 first = uint64(bound(start, 1, 2 ** 34));
        _beginAt(settlement, range, first - 1);
        uint64 last = first + 1 + more % 40;
        for (uint64 i = first; i <= last; ++i) {
            _settleNext(i);
        }
        uint64 number = first + which % (last - first + 1);
        for (uint256 top = number; top <= last; top = RangeModel.above(top)) {
            if (range.keeps(top)) _refund(number, top);
            else _expectRefusal(number, top);
        }
    }
}
