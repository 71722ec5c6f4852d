// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedCharges} from "./PackedCharges.sol";

/// @notice The shared state that every batch reads and writes, in one word, from the lowest bit:
/// settlingPaused (1) | free (1) | acquirerRate (10) | protocolRate (10)
/// | cashbackRate (10) | hour (16) | settledInHour (44) | hourlyCeiling (24) | batches (36)
/// | acquirerFees (52) | protocolFees (52).
/// @dev 52 bits hold 4.5 billion USDC of uncollected fees; 36 bits hold a batch per second for
/// 2,000 years; 44 bits hold any sum below the highest ceiling. `hour` is the lowest 16 bits of the
/// hour that `settledInHour` belongs to: after 7 years an old hour's sum may be counted once, which
/// only makes the ceiling stricter. A word instead of a struct, because solc writes a struct back
/// field by field.
type PackedLedger is uint256;

using PackedLedgerFields for PackedLedger global;

/// @title Reading and writing the packed ledger.
library PackedLedgerFields {
    /// @dev The unit of the stored ceiling: 1 USDC.
    uint256 internal constant CEILING_UNIT = 1e6;

    uint256 private constant RATE = 0x3ff;
    uint256 private constant RATES_MASK = 0x3fffffff << 2;
    uint256 private constant HOUR_SHIFT = 32;
    uint256 private constant SETTLED_SHIFT = 48;
    uint256 private constant SETTLED = 0xfffffffffff;
    uint256 private constant HOUR_AND_SETTLED_MASK = 0xfffffffffffffff << HOUR_SHIFT;
    uint256 private constant CEILING_SHIFT = 92;
    uint256 private constant BATCHES_SHIFT = 116;
    uint256 private constant ACQUIRER_FEES_SHIFT = 152;
    uint256 private constant PROTOCOL_FEES_SHIFT = 204;
    uint256 private constant FEES = 0xfffffffffffff;

    error FeesTooHigh(uint256 acquirerFees, uint256 protocolFees);

    function settlingPaused(PackedLedger ledger) internal pure returns (bool) {
        return PackedLedger.unwrap(ledger) & 1 != 0;
    }

    function acquirerRate(PackedLedger ledger) internal pure returns (uint16) {
        return uint16((PackedLedger.unwrap(ledger) >> 2) & RATE);
    }

    function protocolRate(PackedLedger ledger) internal pure returns (uint16) {
        return uint16((PackedLedger.unwrap(ledger) >> 12) & RATE);
    }

    function cashbackRate(PackedLedger ledger) internal pure returns (uint16) {
        return uint16((PackedLedger.unwrap(ledger) >> 22) & RATE);
    }

    function batches(PackedLedger ledger) internal pure returns (uint40) {
        return uint40((PackedLedger.unwrap(ledger) >> BATCHES_SHIFT) & 0xfffffffff);
    }

    function acquirerFees(PackedLedger ledger) internal pure returns (uint56) {
        return uint56((PackedLedger.unwrap(ledger) >> ACQUIRER_FEES_SHIFT) & FEES);
    }

    function protocolFees(PackedLedger ledger) internal pure returns (uint56) {
        return uint56(PackedLedger.unwrap(ledger) >> PROTOCOL_FEES_SHIFT);
    }

    /// @return In units of CEILING_UNIT.
    function hourlyCeiling(PackedLedger ledger) internal pure returns (uint24) {
        return uint24(PackedLedger.unwrap(ledger) >> CEILING_SHIFT);
    }

    /// @return The atoms settled in the hour of `time`.
    function settledAt(PackedLedger ledger, uint256 time) internal pure returns (uint256) {
        uint256 word = PackedLedger.unwrap(ledger);
        if (uint16(word >> HOUR_SHIFT) != uint16(time / 1 hours)) return 0;
        return (word >> SETTLED_SHIFT) & SETTLED;
    }

    /// @return The atoms that can still settle in the hour of `time`.
    function roomAt(PackedLedger ledger, uint256 time) internal pure returns (uint256) {
        unchecked {
            uint256 ceiling = ledger.hourlyCeiling() * CEILING_UNIT;
            uint256 settled = ledger.settledAt(time);
            // The ceiling may have been lowered below the sum settled before.
            return settled < ceiling ? ceiling - settled : 0;
        }
    }

    function withSettlingPaused(PackedLedger ledger, bool paused)
        internal
        pure
        returns (PackedLedger)
    {
        uint256 rest = PackedLedger.unwrap(ledger) & ~uint256(1);
        return PackedLedger.wrap(rest | (paused ? 1 : 0));
    }

    /// @dev Rates are at most 1,023: {Governance} keeps them below 301.
    function withRates(PackedLedger ledger, uint16 acquirer, uint16 protocol, uint16 cashback)
        internal
        pure
        returns (PackedLedger)
    {
        uint256 rates =
            (uint256(acquirer) << 2) | (uint256(protocol) << 12) | (uint256(cashback) << 22);
        return PackedLedger.wrap((PackedLedger.unwrap(ledger) & ~RATES_MASK) | rates);
    }

    function withCeiling(PackedLedger ledger, uint24 ceiling)
        internal
        pure
        returns (PackedLedger)
    {
        uint256 mask = uint256(type(uint24).max) << CEILING_SHIFT;
        return PackedLedger.wrap(
            (PackedLedger.unwrap(ledger) & ~mask) | (uint256(ceiling) << CEILING_SHIFT)
        );
    }

    /// @return The ledger with `settled` as the hour's sum of atoms, in the hour of `time`.
    function withSettled(PackedLedger ledger, uint256 settled, uint256 time)
        internal
        pure
        returns (PackedLedger)
    {
        uint256 hour = uint256(uint16(time / 1 hours)) << HOUR_SHIFT;
        return PackedLedger.wrap(
            (PackedLedger.unwrap(ledger) & ~HOUR_AND_SETTLED_MASK) | hour
                | (settled << SETTLED_SHIFT)
        );
    }

    /// @return The ledger after one more batch, with its charges less the cashback, which is at
    /// most the protocol fee (see {Governance}).
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
            if ((acquirerSum | protocolSum) > FEES) revert FeesTooHigh(acquirerSum, protocolSum);
            // The sums fit their fields, so plain additions suffice.
            return PackedLedger.wrap(
                PackedLedger.unwrap(ledger) + (acquirer << ACQUIRER_FEES_SHIFT)
                    + (protocol << PROTOCOL_FEES_SHIFT) + (1 << BATCHES_SHIFT)
            );
        }
    }

    /// @dev Fees never grow here, so they fit.
    function withFees(PackedLedger ledger, uint64 acquirer, uint64 protocol)
        internal
        pure
        returns (PackedLedger)
    {
        return PackedLedger.wrap(
            uint152(PackedLedger.unwrap(ledger)) | (uint256(acquirer) << ACQUIRER_FEES_SHIFT)
                | (uint256(protocol) << PROTOCOL_FEES_SHIFT)
        );
    }
}
