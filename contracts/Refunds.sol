// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Batches} from "./Batches.sol";
import {PackedOutflow} from "./PackedOutflow.sol";
import {PaymentCodec, PaymentHead, PaymentTail} from "./PaymentCodec.sol";
import {PaymentTree} from "./PaymentTree.sol";

/// @title Refunds, bound to real payments.
/// @notice Payee, merchant and limit come from the payment itself, proved against its batch.
abstract contract Refunds is Batches {
    using SafeERC20 for IERC20;

    /// @dev A whole word, because writing a part of one would read it first.
    mapping(uint64 number => uint256 atoms) private _refunded;

    /// @param refundReference Identifies the refund in the event; no rule depends on it.
    event PaymentRefunded(
        uint64 indexed number,
        address indexed payer,
        uint32 indexed merchant,
        uint64 amount,
        uint64 totalRefunded,
        bytes16 refundReference
    );

    error PaymentNotProved(uint64 number, uint256 nodeIndex);
    error RefundOutOfOrder(uint256 attempted, uint256 actual);
    error RefundTooHigh(uint256 attempted, uint256 allowed);

    /// @notice Refunds the payer of a settled payment from the merchant's balance.
    /// @param nodeIndex The node of the range that the proof leads to.
    /// @param packed The packed payment, exactly as it was settled.
    /// @param proof The Merkle proof of the payment's leaf in the batch (see {PaymentTree}).
    /// @param refundedBefore The atoms of this payment refunded so far. Every refund raises that
    /// sum, so the same call never pays twice.
    /// @param refundReference Goes into the event.
    function refund(
        uint256 nodeIndex,
        bytes calldata packed,
        bytes32[] calldata proof,
        uint64 amount,
        uint64 refundedBefore,
        bytes16 refundReference
    ) external onlyRole(OPERATOR_ROLE) nonReentrant {
        PackedOutflow outflow = _outflow;
        if (outflow.refundingPaused()) revert RefundingIsPaused();
        (PaymentHead head, PaymentTail tail) = PaymentCodec.readOne(packed);
        if (_nodes[nodeIndex] != PaymentTree.rootOf(proof, PaymentCodec.leaf(packed, 0))) {
            revert PaymentNotProved(head.number(), nodeIndex);
        }
        uint64 total = _countRefund(head.number(), tail.amount(), amount, refundedBefore);
        _debit(tail.merchant(), amount);
        _outflow = outflow.pay(amount, block.timestamp);
        emit PaymentRefunded(
            head.number(), head.payer(), tail.merchant(), amount, total, refundReference
        );
        TOKEN.safeTransfer(head.payer(), amount);
    }

    /// @notice Atoms refunded of a payment.
    function refundsOf(uint64 number) external view returns (uint64 total) {
        return uint64(_refunded[number]);
    }

    /// @return total Atoms refunded of the payment, this refund included: at most what was paid.
    function _countRefund(uint64 number, uint256 paid, uint64 amount, uint64 refundedBefore)
        private
        returns (uint64 total)
    {
        uint256 refunded = _refunded[number];
        if (refundedBefore != refunded) revert RefundOutOfOrder(refundedBefore, refunded);
        // At most the amount paid, so neither overflows.
        unchecked {
            uint256 refundable = paid - refunded;
            if (amount > refundable) revert RefundTooHigh(amount, refundable);
            total = uint64(refunded + amount);
        }
        _refunded[number] = total;
    }
}
