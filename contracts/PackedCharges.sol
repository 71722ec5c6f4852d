// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The costs of a payment on top of the sale, in atoms and in one word, from the lowest
/// bit: cashback (64) | protocolFee (64) | acquirerFee (64); 64 bits are unused.
/// @dev A word instead of a struct in memory, so that one addition adds all three fields. A sale of
/// MAX_AMOUNT under MAX_FEE_RATE keeps each below 2^35, so the charges of a batch never reach the
/// next field.
type PackedCharges is uint256;

using {add as +} for PackedCharges global;
using PackedChargesFields for PackedCharges global;

/// @dev Adds each field.
function add(PackedCharges a, PackedCharges b) pure returns (PackedCharges) {
    unchecked {
        return PackedCharges.wrap(PackedCharges.unwrap(a) + PackedCharges.unwrap(b));
    }
}

/// @title Reading and writing packed charges.
library PackedChargesFields {
    uint256 private constant ACQUIRER_SHIFT = 128;
    uint256 private constant PROTOCOL_SHIFT = 64;
    uint256 private constant BATCH_SHIFT = 192;

    /// @dev Each must be below 2^64.
    function pack(uint256 acquirerFee_, uint256 protocolFee_, uint256 cashback_)
        internal
        pure
        returns (PackedCharges)
    {
        return PackedCharges.wrap(
            (acquirerFee_ << ACQUIRER_SHIFT) | (protocolFee_ << PROTOCOL_SHIFT) | cashback_
        );
    }

    function acquirerFee(PackedCharges charges) internal pure returns (uint64) {
        return uint64(PackedCharges.unwrap(charges) >> ACQUIRER_SHIFT);
    }

    function protocolFee(PackedCharges charges) internal pure returns (uint64) {
        return uint64(PackedCharges.unwrap(charges) >> PROTOCOL_SHIFT);
    }

    function cashback(PackedCharges charges) internal pure returns (uint64) {
        return uint64(PackedCharges.unwrap(charges));
    }

    /// @return The event's word, with the batch number in the highest 64 bits.
    function withBatch(PackedCharges charges, uint256 batch) internal pure returns (uint256) {
        return (batch << BATCH_SHIFT) | PackedCharges.unwrap(charges);
    }
}
