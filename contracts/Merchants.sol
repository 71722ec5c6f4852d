// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Governance} from "./Governance.sol";
import {SpendingPolicies} from "./SpendingPolicies.sol";

/// @title Merchants: their numbers, wallets and balances.
/// @notice The contract identifies merchants by small numbers. A merchant's money can only go to
/// its registered wallet or, as a refund, to a payer; no role can send it anywhere else.
abstract contract Merchants is Governance, SpendingPolicies {
    bytes32 private constant CONSENT_TYPEHASH =
        keccak256("MerchantConsent(bytes32 reference,address wallet,uint256 deadline)");

    /// @notice Seconds after its registration during which a merchant cannot withdraw.
    uint48 public immutable PAYOUT_HOLD;

    /// @notice The longest such hold, in seconds after the registration, that a guardian can set.
    uint48 public constant MAX_PAYOUT_HOLD = 30 days;

    /// @dev The position of the balance's lowest bit in a Merchant slot.
    uint256 internal constant BALANCE_SHIFT = 200;

    /// @dev One slot. 56 bits of atoms are 72 billion USDC, about the whole supply; 32 bits of
    /// seconds end in 2106. `changeAnnounced` stays set until a change is applied, even after a
    /// cancellation.
    struct Merchant {
        address wallet;
        uint32 heldUntil;
        bool changeAnnounced;
        uint56 balance;
    }

    mapping(uint32 merchant => Merchant) internal _merchants;
    /// @dev Not in the merchant's slot, because no payment reads it.
    mapping(uint32 merchant => uint256 time) private _registeredAt;
    mapping(bytes32 merchantReference => uint32 merchant) private _merchantOf;
    uint32 private _merchantCount;

    event MerchantRegistered(
        uint32 indexed merchant, bytes32 indexed merchantReference, address indexed wallet
    );
    event PayoutsHeld(uint32 indexed merchant, uint32 heldUntil);

    error MerchantAlreadyRegistered(bytes32 merchantReference, uint32 merchant);
    error MerchantNotRegistered(uint32 merchant);
    error HoldNotExtended(uint256 attempted, uint256 current);
    error HoldTooLong(uint256 attempted, uint256 allowed);
    error HoldHasEnded(uint256 attemptedAt, uint256 endedAt);
    error AmountZero();
    error InsufficientMerchantBalance(uint256 attempted, uint256 available);
    error MerchantBalanceTooHigh(uint32 merchant);

    constructor(uint48 payoutHold) {
        if (payoutHold > MAX_PAYOUT_HOLD) revert HoldTooLong(payoutHold, MAX_PAYOUT_HOLD);
        PAYOUT_HOLD = payoutHold;
    }

    /// @notice Registers a merchant and gives it the next number.
    /// @param merchantReference keccak256 of the account's id; can be registered only once.
    /// @param signature The wallet's consent: EIP-712 `MerchantConsent`.
    function registerMerchant(
        bytes32 merchantReference,
        address wallet,
        uint256 deadline,
        bytes calldata signature
    ) external onlyRole(REGISTRAR_ROLE) nonReentrant returns (uint32 merchant) {
        uint32 registered = _merchantOf[merchantReference];
        if (registered != 0) revert MerchantAlreadyRegistered(merchantReference, registered);
        _requirePayableWallet(wallet);
        bytes32 structHash =
            keccak256(abi.encode(CONSENT_TYPEHASH, merchantReference, wallet, deadline));
        _requireSignature(wallet, structHash, deadline, signature);
        merchant = ++_merchantCount;
        _merchantOf[merchantReference] = merchant;
        _merchants[merchant] = Merchant(wallet, uint32(block.timestamp + PAYOUT_HOLD), false, 0);
        _registeredAt[merchant] = block.timestamp;
        emit MerchantRegistered(merchant, merchantReference, wallet);
    }

    /// @notice Extends the hold on a new merchant's first payout while it lasts, at most to
    /// MAX_PAYOUT_HOLD after the registration.
    function holdPayouts(uint32 merchant, uint32 until)
        external
        onlyRole(GUARDIAN_ROLE)
        nonReentrant
    {
        uint256 heldUntil = _merchants[merchant].heldUntil;
        if (block.timestamp >= heldUntil) revert HoldHasEnded(block.timestamp, heldUntil);
        if (until <= heldUntil) revert HoldNotExtended(until, heldUntil);
        uint256 allowed = _registeredAt[merchant] + MAX_PAYOUT_HOLD;
        if (until > allowed) revert HoldTooLong(until, allowed);
        _merchants[merchant].heldUntil = until;
        emit PayoutsHeld(merchant, until);
    }

    /// @notice A merchant's wallet, its balance, and when it can withdraw; zeros if the number is
    /// unknown.
    function merchantAccount(uint32 merchant)
        external
        view
        returns (address wallet, uint56 balance, uint32 heldUntil)
    {
        Merchant memory account = _merchants[merchant];
        return (account.wallet, account.balance, account.heldUntil);
    }

    /// @notice The merchant number of a reference; zero if it is not registered.
    function merchantOf(bytes32 merchantReference) external view returns (uint32 merchant) {
        return _merchantOf[merchantReference];
    }

    function merchantCount() external view returns (uint32) {
        return _merchantCount;
    }

    /// @return account The merchant's slot before this call.
    function _debit(uint32 merchant, uint256 amount) internal returns (uint256 account) {
        if (amount == 0) revert AmountZero();
        Merchant storage slot = _merchants[merchant];
        assembly ("memory-safe") {
            account := sload(slot.slot)
        }
        if (account == 0) revert MerchantNotRegistered(merchant);
        uint256 balance = account >> BALANCE_SHIFT;
        if (amount > balance) revert InsufficientMerchantBalance(amount, balance);
        assembly ("memory-safe") {
            sstore(slot.slot, sub(account, shl(BALANCE_SHIFT, amount)))
        }
    }

    /// @dev The Merchant slot as a word, for batches; zero if the merchant is not registered.
    function _loadAccount(uint32 merchant) internal view returns (uint256 word) {
        Merchant storage account = _merchants[merchant];
        assembly ("memory-safe") {
            word := sload(account.slot)
        }
    }

    function _storeAccount(uint32 merchant, uint256 word) internal {
        Merchant storage account = _merchants[merchant];
        assembly ("memory-safe") {
            sstore(account.slot, word)
        }
    }

    /// @dev Money sent to these addresses would be lost or counted twice.
    function _requirePayableWallet(address wallet) internal view {
        if (wallet == address(0) || wallet == address(this) || wallet == address(TOKEN)) {
            revert AddressInvalid(wallet);
        }
    }
}
