// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Batches} from "./Batches.sol";
import {PaymentCodec, PaymentHead, PaymentTail} from "./PaymentCodec.sol";
import {PaymentTree} from "./PaymentTree.sol";

/// @title Refunds, bound to real payments.
/// @notice Payee, merchant and limit come from the payment itself, proved against its batch.
abstract contract Refunds is Batches {
    using SafeERC20 for IERC20;

    /// @notice How many refunds one payment can have.
    uint256 public constant MAX_REFUNDS = 200;

    /// @dev The lowest 40 bits hold the atoms refunded; above them bit i says that refund i was
    /// paid.
    mapping(uint64 number => uint256) private _refunds;

    uint256 private constant TOTAL_BITS = 40;

    event PaymentRefunded(
        uint64 indexed number,
        address indexed payer,
        uint32 indexed merchant,
        uint8 index,
        uint64 amount,
        uint64 totalRefunded
    );

    error PaymentNotInBatch(uint64 number, uint256 batch);
    error RefundIndexTooHigh(uint256 attempted, uint256 allowed);
    error RefundAlreadyPaid(uint64 number, uint8 index);
    error RefundTooHigh(uint256 attempted, uint256 allowed);

    /// @notice Pays back to the payer of a settled payment out of the merchant's balance.
    /// @param batch The batch that the payment settled in.
    /// @param packed The packed payment, exactly as it was settled.
    /// @param index Numbers the refunds of this payment from 0: a second call with it pays nothing.
    /// @param proof The Merkle proof of the payment's leaf in the batch (see {PaymentTree}).
    /// @dev In this order of parameters the selector is dispatched first, which saves 800 gas.
    function refund(
        uint256 batch,
        bytes calldata packed,
        uint8 index,
        bytes32[] calldata proof,
        uint256 amount
    ) external onlyRole(OPERATOR_ROLE) nonReentrant {
        if (_ledger.refundingPaused()) revert RefundingIsPaused();
        (PaymentHead head, PaymentTail tail) = PaymentCodec.readOne(packed);
        bytes32 root = _roots[batch];
        if (root == 0 || root != PaymentTree.rootOf(proof, PaymentCodec.leaf(packed, 0))) {
            revert PaymentNotInBatch(head.number(), batch);
        }
        uint256 total = _countRefund(head.number(), tail.amount(), index, amount);
        _debit(tail.merchant(), amount);
        // The amount is at most the payment's, so both numbers fit.
        emit PaymentRefunded(
            head.number(), head.payer(), tail.merchant(), index, uint64(amount), uint64(total)
        );
        TOKEN.safeTransfer(head.payer(), amount);
    }

    /// @notice Atoms refunded of a payment, and a bit for each refund index that was paid.
    function refundsOf(uint64 number) external view returns (uint64 total, uint256 indexes) {
        uint256 record = _refunds[number];
        return (uint40(record), record >> TOTAL_BITS);
    }

    /// @return total Atoms refunded of the payment, this refund included: at most what was paid.
    function _countRefund(uint64 number, uint256 paid, uint8 index, uint256 amount)
        private
        returns (uint256 total)
    {
        if (index >= MAX_REFUNDS) revert RefundIndexTooHigh(index, MAX_REFUNDS - 1);
        uint256 record = _refunds[number];
        uint256 bit = 1 << (TOTAL_BITS + index);
        if (record & bit != 0) revert RefundAlreadyPaid(number, index);
        uint256 refundable = paid - uint40(record);
        if (amount > refundable) revert RefundTooHigh(amount, refundable);
        unchecked {
            _refunds[number] = (record | bit) + amount;
            return uint40(record) + amount;
        }
    }
}
