// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedCharges} from "./PackedCharges.sol";

/// @notice Everything that each batch reads and writes besides its payments, in one word, from the
/// lowest bit: settlingPaused (8) | refundingPaused (8) | acquirerRate (16) | protocolRate (16)
/// | cashbackRate (16) | batches (48) | acquirerFees (64) | protocolFees (64); 16 bits stay free.
/// @dev 64 bits hold 18 trillion USDC of uncollected fees. A word instead of a struct, as solc
/// writes a struct back field by field.
type PackedLedger is uint256;

using PackedLedgerFields for PackedLedger global;

/// @title Reading and writing the packed ledger.
library PackedLedgerFields {
    uint256 private constant FLAG = 0xff;
    uint256 private constant RATES_MASK = 0xffffffffffff << 16;
    uint256 private constant BATCHES_SHIFT = 64;
    uint256 private constant ACQUIRER_FEES_SHIFT = 112;
    uint256 private constant PROTOCOL_FEES_SHIFT = 176;

    error FeesTooHigh(uint256 acquirerFees, uint256 protocolFees);

    function settlingPaused(PackedLedger ledger) internal pure returns (bool) {
        return PackedLedger.unwrap(ledger) & FLAG != 0;
    }

    function refundingPaused(PackedLedger ledger) internal pure returns (bool) {
        return PackedLedger.unwrap(ledger) & (FLAG << 8) != 0;
    }

    function acquirerRate(PackedLedger ledger) internal pure returns (uint16) {
        return uint16(PackedLedger.unwrap(ledger) >> 16);
    }

    function protocolRate(PackedLedger ledger) internal pure returns (uint16) {
        return uint16(PackedLedger.unwrap(ledger) >> 32);
    }

    function cashbackRate(PackedLedger ledger) internal pure returns (uint16) {
        return uint16(PackedLedger.unwrap(ledger) >> 48);
    }

    function batches(PackedLedger ledger) internal pure returns (uint48) {
        return uint48(PackedLedger.unwrap(ledger) >> BATCHES_SHIFT);
    }

    function acquirerFees(PackedLedger ledger) internal pure returns (uint64) {
        return uint64(PackedLedger.unwrap(ledger) >> ACQUIRER_FEES_SHIFT);
    }

    function protocolFees(PackedLedger ledger) internal pure returns (uint64) {
        return uint64(PackedLedger.unwrap(ledger) >> PROTOCOL_FEES_SHIFT);
    }

    function withPauses(PackedLedger ledger, bool settling, bool refunding)
        internal
        pure
        returns (PackedLedger)
    {
        uint256 flags = (settling ? 1 : 0) | (refunding ? 1 << 8 : 0);
        return PackedLedger.wrap((PackedLedger.unwrap(ledger) & ~uint256(0xffff)) | flags);
    }

    function withRates(PackedLedger ledger, uint16 acquirer, uint16 protocol, uint16 cashback)
        internal
        pure
        returns (PackedLedger)
    {
        uint256 rates =
            (uint256(acquirer) << 16) | (uint256(protocol) << 32) | (uint256(cashback) << 48);
        return PackedLedger.wrap((PackedLedger.unwrap(ledger) & ~RATES_MASK) | rates);
    }

    /// @return The ledger after one more batch. It earned these charges less their cashback, which
    /// is at most the protocol fee (see {Governance}).
    function withBatch(PackedLedger ledger, PackedCharges charges)
        internal
        pure
        returns (PackedLedger)
    {
        unchecked {
            uint256 acquirer = charges.acquirerFee();
            uint256 protocol = uint256(charges.protocolFee()) - charges.cashback();
            uint256 acquirerSum = ledger.acquirerFees() + acquirer;
            uint256 protocolSum = ledger.protocolFees() + protocol;
            if ((acquirerSum | protocolSum) > type(uint64).max) {
                revert FeesTooHigh(acquirerSum, protocolSum);
            }
            // As the sums fit their fields, one addition each does. 2^48 batches are 8 million
            // years of one per second.
            return PackedLedger.wrap(
                PackedLedger.unwrap(ledger) + (acquirer << ACQUIRER_FEES_SHIFT)
                    + (protocol << PROTOCOL_FEES_SHIFT) + (1 << BATCHES_SHIFT)
            );
        }
    }

    function withFees(PackedLedger ledger, uint64 acquirer, uint64 protocol)
        internal
        pure
        returns (PackedLedger)
    {
        return PackedLedger.wrap(
            uint112(PackedLedger.unwrap(ledger)) | (uint256(acquirer) << ACQUIRER_FEES_SHIFT)
                | (uint256(protocol) << PROTOCOL_FEES_SHIFT)
        );
    }
}
