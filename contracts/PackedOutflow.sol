// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedLedgerFields} from "./PackedLedger.sol";

/// @notice The shared state that refunds read and write, in one word, from the lowest bit:
/// refundingPaused (1) | hourlyCeiling (24) | hour (40) | paidInHour (191).
/// @dev Not in the packed ledger, which is full. Refunds and settlements have the same ceiling,
/// which bounds the loss of merchants if an operator's key is stolen. Both words contain it, so
/// that a refund reads one slot. Withdrawals do not count, because they go to the merchant's own
/// wallet.
type PackedOutflow is uint256;

using PackedOutflowFields for PackedOutflow global;

/// @title Reading and writing the packed outflow.
library PackedOutflowFields {
    uint256 private constant CEILING_SHIFT = 1;
    uint256 private constant HOUR_SHIFT = 25;
    uint256 private constant PAID_SHIFT = 65;
    uint256 private constant PAUSE_AND_CEILING = 0x1ffffff;

    error OutflowCeilingReached(uint256 attempted, uint256 available);

    function refundingPaused(PackedOutflow outflow) internal pure returns (bool) {
        return PackedOutflow.unwrap(outflow) & 1 != 0;
    }

    /// @return In units of CEILING_UNIT.
    function hourlyCeiling(PackedOutflow outflow) internal pure returns (uint24) {
        return uint24(PackedOutflow.unwrap(outflow) >> CEILING_SHIFT);
    }

    /// @return The atoms refunded in the hour of `time`.
    function paidAt(PackedOutflow outflow, uint256 time) internal pure returns (uint256) {
        return _paidIn(PackedOutflow.unwrap(outflow), time / 1 hours);
    }

    function withRefundingPaused(PackedOutflow outflow, bool paused)
        internal
        pure
        returns (PackedOutflow)
    {
        uint256 rest = PackedOutflow.unwrap(outflow) & ~uint256(1);
        return PackedOutflow.wrap(rest | (paused ? 1 : 0));
    }

    function withCeiling(PackedOutflow outflow, uint24 ceiling)
        internal
        pure
        returns (PackedOutflow)
    {
        uint256 mask = uint256(type(uint24).max) << CEILING_SHIFT;
        return PackedOutflow.wrap(
            (PackedOutflow.unwrap(outflow) & ~mask) | (uint256(ceiling) << CEILING_SHIFT)
        );
    }

    /// @dev Cannot overflow: `amount` is below 2^64, and the sum refunded before is below the
    /// highest ceiling.
    /// @return The outflow after another `amount` atoms in the hour of `time`.
    function pay(PackedOutflow outflow, uint256 amount, uint256 time)
        internal
        pure
        returns (PackedOutflow)
    {
        unchecked {
            uint256 word = PackedOutflow.unwrap(outflow);
            uint256 hour = time / 1 hours;
            uint256 ceiling = outflow.hourlyCeiling() * PackedLedgerFields.CEILING_UNIT;
            uint256 paid = _paidIn(word, hour);
            uint256 sum = paid + amount;
            if (sum > ceiling) {
                // The ceiling may have been lowered below the sum already refunded.
                revert OutflowCeilingReached(amount, paid < ceiling ? ceiling - paid : 0);
            }
            return PackedOutflow.wrap(
                (word & PAUSE_AND_CEILING) | (hour << HOUR_SHIFT) | (sum << PAID_SHIFT)
            );
        }
    }

    /// @dev 40 bits of hours never overflow.
    function _paidIn(uint256 word, uint256 hour) private pure returns (uint256) {
        return uint40(word >> HOUR_SHIFT) == hour ? word >> PAID_SHIFT : 0;
    }
}
