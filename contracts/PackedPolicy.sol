// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "./PaymentTypes.sol";

/// @notice A payer's policy and the sum spent under it, in one word, from the lowest bit: period
/// (32) | spent (48) | perPeriod (48) | perPayment (48) | periodSeconds (24) | expiresAt (40) |
/// maxFeeRate (16). `period` is the index of the period that `spent` belongs to.
type PackedPolicy is uint256;

using PackedPolicyFields for PackedPolicy global;

/// @title Reading and writing the packed policy.
/// @dev A word instead of a struct, because each payment reads and writes it, and unpacking a
/// struct into memory cost 599 gas per payment.
library PackedPolicyFields {
    /// @dev `expiresAt` of a revoked policy. Zero if there never was a policy.
    uint256 internal constant REVOKED = 1;

    uint256 private constant SPENT_AND_PERIOD_BITS = 80;

    function pack(
        uint256 maxFeeRate_,
        uint256 expiresAt_,
        uint256 periodSeconds_,
        uint256 perPayment_,
        uint256 perPeriod_
    ) internal pure returns (PackedPolicy) {
        return PackedPolicy.wrap(
            (maxFeeRate_ << 240) | (expiresAt_ << 200) | (periodSeconds_ << 176)
                | (perPayment_ << 128) | (perPeriod_ << SPENT_AND_PERIOD_BITS)
        );
    }

    /// @return The word of a policy that its payer revoked.
    function revoked() internal pure returns (PackedPolicy) {
        return pack(0, REVOKED, 0, 0, 0);
    }

    function maxFeeRate(PackedPolicy policy) internal pure returns (uint16) {
        return uint16(PackedPolicy.unwrap(policy) >> 240);
    }

    function expiresAt(PackedPolicy policy) internal pure returns (uint40) {
        return uint40(PackedPolicy.unwrap(policy) >> 200);
    }

    function periodSeconds(PackedPolicy policy) internal pure returns (uint24) {
        return uint24(PackedPolicy.unwrap(policy) >> 176);
    }

    function perPayment(PackedPolicy policy) internal pure returns (uint48) {
        return uint48(PackedPolicy.unwrap(policy) >> 128);
    }

    function perPeriod(PackedPolicy policy) internal pure returns (uint48) {
        return uint48(PackedPolicy.unwrap(policy) >> SPENT_AND_PERIOD_BITS);
    }

    /// @return True if both have the same caps, period, expiry and fee rate. Ignores `spent`.
    function hasTermsOf(PackedPolicy policy, PackedPolicy other) internal pure returns (bool) {
        uint256 difference = PackedPolicy.unwrap(policy) ^ PackedPolicy.unwrap(other);
        return difference >> SPENT_AND_PERIOD_BITS == 0;
    }

    /// @return The atoms spent in the period of `time`.
    function spentAt(PackedPolicy policy, uint256 time) internal pure returns (uint48) {
        uint256 word = PackedPolicy.unwrap(policy);
        if (policy.periodSeconds() == 0) return 0;
        return uint32(word) == _periodAt(policy, time) ? uint48(word >> 32) : 0;
    }

    /// @notice True if the policy allows the sale at `time`, and the policy after the sale.
    function spend(PackedPolicy policy, uint256 amount, uint256 feeRate, uint256 time)
        internal
        pure
        returns (uint256, PackedPolicy)
    {
        uint256 expiry = policy.expiresAt();
        if (time >= expiry) {
            if (expiry > REVOKED) return (Reason.POLICY_EXPIRED, policy);
            return (expiry == REVOKED ? Reason.POLICY_REVOKED : Reason.POLICY_MISSING, policy);
        }
        if (feeRate > policy.maxFeeRate()) return (Reason.FEES_ABOVE_POLICY, policy);
        if (amount > policy.perPayment()) return (Reason.PAYMENT_CAP_EXCEEDED, policy);
        uint256 period = _periodAt(policy, time);
        uint256 word = PackedPolicy.unwrap(policy);
        uint256 spent = amount;
        // Both are below 2^48.
        if (uint32(word) == period) {
            unchecked {
                spent += uint48(word >> 32);
            }
        }
        if (spent > policy.perPeriod()) return (Reason.PERIOD_CAP_EXCEEDED, policy);
        word = ((word >> SPENT_AND_PERIOD_BITS) << SPENT_AND_PERIOD_BITS) | (spent << 32) | period;
        return (Reason.NONE, PackedPolicy.wrap(word));
    }

    /// @dev Fits 32 bits until the year 2106 at any length; periods start at the Unix epoch.
    /// Divides in assembly, because no caller passes a period of zero, which solc would check for.
    function _periodAt(PackedPolicy policy, uint256 time) private pure returns (uint256 period) {
        uint256 length = policy.periodSeconds();
        assembly ("memory-safe") {
            period := and(div(time, length), 0xffffffff)
        }
    }
}
