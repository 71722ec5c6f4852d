// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";
import {TreeModel} from "./TreeModel.sol";

contract RefundsTest is SettlementFixture {
    bytes16 private constant REFERENCE = bytes16(uint128(0xa1b2));

    bytes32[] private leaves;

    /// @dev Settles `count` sales numbered from 1 as batch 1.
    function _settleSales(uint64 count) private {
        bytes memory payments;
        for (uint64 i = 1; i <= count; ++i) {
            payments = bytes.concat(payments, _sale(i));
            leaves.push(keccak256(_sale(i)));
        }
        _settle(payments);
    }

    function _refund(uint64 number, uint64 before, uint64 amount) private {
        bytes32[] memory proof = TreeModel.proof(leaves, number - 1);
        bytes memory payment = _sale(number);
        vm.prank(OPERATOR);
        settlement.refund(1, payment, proof, amount, before, REFERENCE);
    }

    function _expectRefundRevert(bytes memory reason, uint64 number, uint64 before, uint64 amount)
        private
    {
        bytes32[] memory proof = TreeModel.proof(leaves, number - 1);
        bytes memory payment = _sale(number);
        vm.expectRevert(reason);
        vm.prank(OPERATOR);
        settlement.refund(1, payment, proof, amount, before, REFERENCE);
    }

    function test_paysThePayerFromTheMerchantsBalance() public {
        _settleSales(5);
        uint256 before = token.balanceOf(payer);
        vm.expectEmit();
        emit ISettlement.PaymentRefunded(3, payer, merchant, 1_000_000, 1_000_000, REFERENCE);
        _refund(3, 0, 1_000_000);
        assertEq(token.balanceOf(payer) - before, 1_000_000, "payer");
        assertEq(_balanceOf(merchant), 5 * uint256(SALE) - 1_000_000, "merchant");
        assertEq(settlement.refundsOf(3), 1_000_000, "total");
    }

    function test_neverPaysMoreThanWasPaid() public {
        _settleSales(2);
        _refund(1, 0, SALE - 1);
        bytes4 tooHigh = ISettlement.RefundTooHigh.selector;
        _expectRefundRevert(abi.encodeWithSelector(tooHigh, 2, 1), 1, SALE - 1, 2);
        _refund(1, SALE - 1, 1);
        _expectRefundRevert(abi.encodeWithSelector(tooHigh, 1, 0), 1, SALE, 1);
        uint64 wrapping = type(uint64).max;
        _expectRefundRevert(abi.encodeWithSelector(tooHigh, wrapping, SALE), 2, 0, wrapping);
    }

    function test_aResentRefundPaysOnce() public {
        _settleSales(1);
        _refund(1, 0, 10);
        bytes4 outOfOrder = ISettlement.RefundOutOfOrder.selector;
        _expectRefundRevert(abi.encodeWithSelector(outOfOrder, 0, 10), 1, 0, 10);
        _refund(1, 10, 10);
        _expectRefundRevert(abi.encodeWithSelector(outOfOrder, 10, 20), 1, 10, 10);
        assertEq(settlement.refundsOf(1), 20, "total");
    }

    function test_aRefundOutOfOrderIsRefused() public {
        _settleSales(1);
        _expectRefundRevert(
            abi.encodeWithSelector(ISettlement.RefundOutOfOrder.selector, 10, 0), 1, 10, 1
        );
        assertEq(settlement.refundsOf(1), 0, "total");
    }

    function test_aPaymentTakesMoreThanTwoHundredRefunds() public {
        _settleSales(1);
        for (uint64 i = 0; i < 300; ++i) {
            _refund(1, i, 1);
        }
        assertEq(settlement.refundsOf(1), 300, "total");
    }

    function test_refundsOfZeroAreRefused() public {
        _settleSales(1);
        _expectRefundRevert(abi.encodePacked(ISettlement.AmountZero.selector), 1, 0, 0);
    }

    function test_aRefundBeyondTheMerchantsBalanceFailsAndIsNotCounted() public {
        _settleSales(1);
        vm.prank(vm.addr(WALLET_KEY));
        settlement.withdrawOwn(merchant, SALE - 4);
        _expectRefundRevert(
            abi.encodeWithSelector(ISettlement.InsufficientMerchantBalance.selector, 5, 4), 1, 0, 5
        );
        _refund(1, 0, 4);
    }

    function test_aProofCoversEveryFieldOfThePayment() public {
        _settleSales(3);
        bytes32[] memory proof = TreeModel.proof(leaves, 0);
        bytes[5] memory forged = [
            _packed(2, payer, merchant, SALE),
            _packed(1, STRANGER, merchant, SALE),
            _packed(1, payer, otherMerchant, SALE),
            _packed(1, payer, merchant, SALE + 1),
            abi.encodePacked(uint64(1), payer, merchant, SALE, bytes8("ORDER-2"))
        ];
        for (uint256 i = 0; i < forged.length; ++i) {
            uint64 number = i == 0 ? 2 : 1;
            expectError(ISettlement.PaymentNotProved.selector, number, 1);
            vm.prank(OPERATOR);
            settlement.refund(1, forged[i], proof, 1, 0, REFERENCE);
        }
    }

    function test_wrongNodesAndProofsAreRefused() public {
        _settleSales(1);
        _settle(_sale(9));
        bytes32[] memory proof = new bytes32[](0);
        bytes memory payment = _sale(1);
        uint256[3] memory nodes = [uint256(0), 2, 3];
        for (uint256 i = 0; i < nodes.length; ++i) {
            expectError(ISettlement.PaymentNotProved.selector, 1, nodes[i]);
            vm.prank(OPERATOR);
            settlement.refund(nodes[i], payment, proof, 1, 0, REFERENCE);
        }
        proof = new bytes32[](1);
        expectError(ISettlement.PaymentNotProved.selector, 1, 1);
        vm.prank(OPERATOR);
        settlement.refund(1, payment, proof, 1, 0, REFERENCE);
    }

    function test_aFailedPaymentCannotBeRefunded() public {
        _settle(bytes.concat(_sale(1), _packed(2, STRANGER, merchant, SALE), _sale(3)));
        leaves = [keccak256(_sale(1)), keccak256(_sale(3))];
        assertEq(settlement.rangeNode(1), TreeModel.root(leaves), "the settled two");
        bytes32[] memory proof = new bytes32[](1);
        proof[0] = leaves[1];
        bytes memory failed = _packed(2, STRANGER, merchant, SALE);
        expectError(ISettlement.PaymentNotProved.selector, 2, 1);
        vm.prank(OPERATOR);
        settlement.refund(1, failed, proof, 1, 0, REFERENCE);
    }

    function test_onlyOperatorsRefundAndNotWhilePaused() public {
        _settleSales(1);
        bytes32[] memory proof = new bytes32[](0);
        bytes memory payment = _sale(1);
        bytes32 role = settlement.OPERATOR_ROLE();
        _expectRole(STRANGER, role);
        vm.prank(STRANGER);
        settlement.refund(1, payment, proof, 1, 0, REFERENCE);
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        _expectRefundRevert(abi.encodePacked(ISettlement.RefundingIsPaused.selector), 1, 0, 1);
        _settle(_sale(2));
        vm.prank(STEWARD);
        settlement.unpauseRefunding();
        _refund(1, 0, 1);
    }

    function test_refundsContinueWhileSettlingIsPaused() public {
        _settleSales(1);
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        _refund(1, 0, SALE);
    }

    function test_aRefundToABlockedPayerFailsAndIsNotCounted() public {
        _settleSales(1);
        vm.prank(ADMIN);
        token.setBlocked(payer, true);
        _expectRefundRevert(abi.encodeWithSignature("AccountBlocked(address)", payer), 1, 0, 5);
        assertEq(settlement.refundsOf(1), 0, "total");
        assertEq(_balanceOf(merchant), SALE, "merchant");
    }

    function testFuzz_everyPaymentOfEveryBatchSizeCanBeRefunded(uint8 size, uint8 which) public {
        uint64 count = uint64(bound(size, 1, 70));
        uint64 number = uint64(bound(which, 1, count));
        _settleSales(count);
        assertEq(settlement.rangeNode(1), TreeModel.root(leaves), "root");
        _refund(number, 0, SALE);
    }

    function test_theRangeEndsWithItsHighestNode() public {
        assertEq(settlement.rangeNode(291), bytes32(0), "the peak of 2^35 batches");
        vm.expectRevert(abi.encodeWithSignature("Panic(uint256)", 0x32)); // index out of bounds
        settlement.rangeNode(292);
    }

    function testFuzz_anyOrderOfPartialRefundsStaysWithinThePayment(uint40[8] memory amounts)
        public
    {
        _settleSales(3);
        uint64 total;
        for (uint8 i = 0; i < amounts.length; ++i) {
            uint64 amount = uint64(bound(amounts[i], 1, SALE));
            if (total + amount > SALE) {
                _expectRefundRevert(
                    abi.encodeWithSelector(
                        ISettlement.RefundTooHigh.selector, amount, SALE - total
                    ),
                    2,
                    total,
                    amount
                );
                continue;
            }
            _refund(2, total, amount);
            total += amount;
        }
        assertEq(settlement.refundsOf(2), total, "total");
    }
}
