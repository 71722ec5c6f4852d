// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice One payment as the relayer hands it in.
/// @param number Unique per network, best handed out in sequence: it keys the replay bitmap.
/// @param payer The wallet that pays.
/// @param merchant The merchant's number on this contract.
/// @param amount The sale in atoms of the token, 1 to MAX_AMOUNT; fees come on top.
/// @param orderId The merchant's order id: 1 to 8 ASCII characters, padded with zeros on the right.
struct Payment {
    uint64 number;
    address payer;
    uint32 merchant;
    uint64 amount;
    bytes8 orderId;
}

/// @notice Why a payment was not settled. Values are part of the interface: append, never reorder.
enum Reason {
    None,
    AlreadySettled,
    AmountInvalid,
    OrderIdInvalid,
    MerchantUnknown,
    PolicyMissing,
    PolicyRevoked,
    PolicyExpired,
    FeesAbovePolicy,
    PaymentCapExceeded,
    PeriodCapExceeded,
    InsufficientFunds,
    InsufficientAllowance,
    AuthorizationRefused,
    TransferRefused
}

/// @dev The highest sale, 1,000,000 USDC. With MAX_FEE_RATE on top it still fits 40 bits.
uint256 constant MAX_AMOUNT = 1e12;

/// @dev Basis points in one.
uint256 constant BASIS_POINTS = 10_000;
