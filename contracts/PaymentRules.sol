// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedCharges, PackedChargesFields} from "./PackedCharges.sol";
import {PackedLedger} from "./PackedLedger.sol";
import {PaymentTail} from "./PaymentCodec.sol";
import {BASIS_POINTS, MAX_AMOUNT, Reason} from "./PaymentTypes.sol";

/// @title The charges of a sale, and its bounds.
/// @dev Shared by settling and by the lens that predicts it.
library PaymentRules {
    /// @dev Rounded down, each on its own, so that no payer pays more than a rate. Cannot overflow:
    /// amounts have 40 bits and rates 16. Cashback is at most the protocol fee (see {Governance}).
    /// @return charges The fees and cashback of the sale.
    /// @return pulled The atoms that leave the payer's wallet.
    function charge(PackedLedger ledger, uint256 amount)
        internal
        pure
        returns (PackedCharges charges, uint256 pulled)
    {
        unchecked {
            uint256 acquirerFee = amount * ledger.acquirerRate() / BASIS_POINTS;
            uint256 protocolFee = amount * ledger.protocolRate() / BASIS_POINTS;
            uint256 cashback = amount * ledger.cashbackRate() / BASIS_POINTS;
            charges = PackedChargesFields.pack(acquirerFee, protocolFee, cashback);
            pulled = amount + acquirerFee + protocolFee - cashback;
        }
    }

    /// @return The sum of the rates that a payer's policy limits, in basis points.
    function feeRate(PackedLedger ledger) internal pure returns (uint256) {
        unchecked {
            return uint256(ledger.acquirerRate()) + ledger.protocolRate();
        }
    }

    function malformation(PaymentTail tail) internal pure returns (uint256) {
        // Zero wraps around, so one comparison covers both ends.
        unchecked {
            if (uint256(tail.amount()) - 1 >= MAX_AMOUNT) return Reason.AMOUNT_INVALID;
        }
        if (bytes1(tail.orderId()) == 0) return Reason.ORDER_ID_INVALID;
        return Reason.NONE;
    }
}
