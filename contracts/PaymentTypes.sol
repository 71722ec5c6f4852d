// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice Why a payment was not settled. Values are part of the interface: append, never reorder.
/// @dev Constants, because solc checks the range of an enum at each use.
library Reason {
    uint8 internal constant NONE = 0;
    uint8 internal constant ALREADY_SETTLED = 1;
    uint8 internal constant AMOUNT_INVALID = 2;
    uint8 internal constant ORDER_ID_INVALID = 3;
    uint8 internal constant MERCHANT_UNKNOWN = 4;
    uint8 internal constant POLICY_MISSING = 5;
    uint8 internal constant POLICY_REVOKED = 6;
    uint8 internal constant POLICY_EXPIRED = 7;
    uint8 internal constant FEES_ABOVE_POLICY = 8;
    uint8 internal constant PAYMENT_CAP_EXCEEDED = 9;
    uint8 internal constant PERIOD_CAP_EXCEEDED = 10;
    uint8 internal constant INSUFFICIENT_FUNDS = 11;
    uint8 internal constant INSUFFICIENT_ALLOWANCE = 12;
    uint8 internal constant AUTHORIZATION_REFUSED = 13;
    uint8 internal constant TRANSFER_REFUSED = 14;
    uint8 internal constant CEILING_REACHED = 15;
}

/// @dev The highest sale, 1,000,000 USDC. With MAX_FEE_RATE on top it still fits 40 bits.
uint256 constant MAX_AMOUNT = 1e12;

/// @dev Basis points of the whole.
uint256 constant BASIS_POINTS = 10_000;

/// @dev The highest sum of acquirer and protocol rate, in basis points.
uint256 constant HIGHEST_FEE_RATE = 300;
