// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Governance} from "./Governance.sol";
import {SpendingPolicies} from "./SpendingPolicies.sol";

/// @title Merchants, their settlement wallets and their withdrawals.
/// @notice A merchant is a small number here. Its money leaves to its registered wallet or, as a
/// refund, to a payer; no role can send it anywhere else.
abstract contract Merchants is Governance, SpendingPolicies {
    using SafeERC20 for IERC20;

    bytes32 private constant CONSENT_TYPEHASH =
        keccak256("MerchantConsent(bytes32 reference,address wallet,uint256 deadline)");
    bytes32 private constant WALLET_CONSENT_TYPEHASH =
        keccak256("WalletConsent(uint32 merchant,address wallet,uint256 nonce,uint256 deadline)");

    /// @notice Seconds between {proposeWallet} and {applyWallet}.
    uint48 public immutable WALLET_DELAY;

    /// @notice Seconds after its registration in which a merchant cannot withdraw.
    uint48 public immutable PAYOUT_HOLD;

    /// @notice The guardian can extend that to this long after the registration.
    uint48 public constant MAX_PAYOUT_HOLD = 30 days;

    /// @notice In this time a merchant's wallet can cancel two of the proposals that it made itself: a
    /// stolen key of the wallet must not keep the merchant from a new one for ever. Proposals of the
    /// registrar it can cancel always: a stolen key of the registrar must not wear its right down.
    uint48 public constant CANCELLATION_PERIOD = 30 days;

    /// @dev Where the balance starts in a Merchant slot.
    uint256 internal constant BALANCE_SHIFT = 200;

    /// @dev Set while another wallet may be announced: withdrawals look no further without it.
    uint256 private constant CHANGE_ANNOUNCED = 1 << 192;

    /// @dev One slot. 56 bits of atoms are 72 billion USDC, about all there is; 32 bits of seconds
    /// end in 2106. `changeAnnounced` stays until a change applies, also when one was canceled.
    struct Merchant {
        address wallet;
        uint32 heldUntil;
        bool changeAnnounced;
        uint56 balance;
    }

    /// @dev What no payment reads. The newer one of the two cancellations first.
    struct MerchantHistory {
        uint48 registeredAt;
        uint48 canceledAt;
        uint48 canceledBefore;
    }

    struct WalletChange {
        address wallet;
        uint48 applicableAt;
        address proposer;
    }

    mapping(uint32 merchant => Merchant) internal _merchants;
    mapping(uint32 merchant => MerchantHistory) private _histories;
    mapping(uint32 merchant => WalletChange) private _walletChanges;
    /// @dev What this proposer proposed until then is dropped; of address 0: what anybody did.
    mapping(address proposer => uint256 time) private _droppedAt;
    mapping(bytes32 merchantReference => uint32 merchant) private _merchantOf;
    /// @dev A whole word for a bit: writing a part of one would read it first.
    mapping(uint64 number => uint256) private _withdrawn;
    uint32 private _merchantCount;

    event MerchantRegistered(
        uint32 indexed merchant, bytes32 indexed merchantReference, address indexed wallet
    );
    event WalletProposed(
        uint32 indexed merchant, address indexed wallet, uint48 applicableAt, address proposer
    );
    /// @param proposer Address 0: of everybody.
    event WalletProposalsDropped(address indexed proposer, address indexed by);
    event WalletProposalCanceled(uint32 indexed merchant, address indexed wallet, address by);
    event WalletChanged(uint32 indexed merchant, address indexed from, address indexed to);
    event PayoutsHeld(uint32 indexed merchant, uint40 heldUntil);
    event Withdrawn(
        uint32 indexed merchant, address indexed wallet, uint64 indexed number, uint64 amount
    );

    error MerchantAlreadyRegistered(bytes32 merchantReference, uint32 merchant);
    error MerchantNotRegistered(uint32 merchant);
    error NotMerchantWallet(address attempted, address allowed);
    error MayNotChangeWallet(address attempted, uint32 merchant);
    error NoWalletProposed(uint32 merchant);
    error WalletAlreadyProposed(uint32 merchant, address wallet);
    error WalletChangePending(uint32 merchant, address wallet);
    error TooManyCancellations(uint256 attemptedAt, uint256 allowedFrom);
    error PayoutsAreHeld(uint256 attemptedAt, uint256 allowedFrom);
    error HoldNotExtended(uint256 attempted, uint256 current);
    error HoldTooLong(uint256 attempted, uint256 allowed);
    error HoldHasEnded(uint256 attemptedAt, uint256 endedAt);
    error AmountZero();
    error NumberZero();
    error InsufficientMerchantBalance(uint256 attempted, uint256 available);
    error MerchantBalanceTooHigh(uint32 merchant);
    error WithdrawalAlreadyPaid(uint64 number);

    constructor(uint48 walletDelay, uint48 payoutHold) {
        if (payoutHold > MAX_PAYOUT_HOLD) revert HoldTooLong(payoutHold, MAX_PAYOUT_HOLD);
        WALLET_DELAY = walletDelay;
        PAYOUT_HOLD = payoutHold;
    }

    /// @notice Registers a merchant and gives it the next number.
    /// @param merchantReference keccak256 of the account's id; can be registered once.
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
        _histories[merchant].registeredAt = uint48(block.timestamp);
        emit MerchantRegistered(merchant, merchantReference, wallet);
    }

    /// @notice Announces a new wallet; it waits WALLET_DELAY, in which {cancelWallet} can stop it, and
    /// lapses ANNOUNCEMENT_LIFE later.
    /// @param signature The new wallet's consent: EIP-712 `WalletConsent`, with the new wallet's
    /// nonce.
    function proposeWallet(
        uint32 merchant,
        address wallet,
        uint256 deadline,
        bytes calldata signature
    ) external nonReentrant {
        _requireWalletOrRegistrar(merchant);
        _requirePayableWallet(wallet);
        bytes32 structHash = keccak256(
            abi.encode(WALLET_CONSENT_TYPEHASH, merchant, wallet, _useNonce(wallet), deadline)
        );
        _requireSignature(wallet, structHash, deadline, signature);
        address pending = _pendingChange(merchant).wallet;
        if (pending != address(0)) revert WalletAlreadyProposed(merchant, pending);
        uint48 applicableAt = uint48(block.timestamp) + WALLET_DELAY;
        _walletChanges[merchant] = WalletChange(wallet, applicableAt, msg.sender);
        _merchants[merchant].changeAnnounced = true;
        emit WalletProposed(merchant, wallet, applicableAt, msg.sender);
    }

    /// @notice Drops an announced wallet: the registrar and the guardian may, and the present wallet;
    /// what the wallet proposed itself, twice in CANCELLATION_PERIOD. A watcher may, if the registrar
    /// proposed it.
    function cancelWallet(uint32 merchant) external {
        WalletChange memory change = _pendingChange(merchant);
        bool mayWatch =
            hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);
        if (!mayWatch && !hasRole(GUARDIAN_ROLE, msg.sender)) _requireWalletOrRegistrar(merchant);
        if (change.wallet == address(0)) revert NoWalletProposed(merchant);
        if (msg.sender == _merchants[merchant].wallet && msg.sender == change.proposer) {
            _countCancellation(merchant);
        }
        delete _walletChanges[merchant];
        emit WalletProposalCanceled(merchant, change.wallet, msg.sender);
    }

    /// @notice Drops the pending wallet change of every merchant, whoever proposed it. A change that is
    /// proposed in a later second waits and applies as usual.
    function dropWalletChanges() external onlyRole(GUARDIAN_ROLE) {
        _dropProposals(address(0));
    }

    /// @notice Puts an announced wallet into force. Anyone may, once the delay has passed, until the
    /// proposal lapses.
    function applyWallet(uint32 merchant) external nonReentrant {
        WalletChange memory change = _pendingChange(merchant);
        if (change.wallet == address(0)) revert NoWalletProposed(merchant);
        _requireApplicable(change.applicableAt);
        Merchant storage account = _merchants[merchant];
        address from = account.wallet;
        delete _walletChanges[merchant];
        (account.wallet, account.changeAnnounced) = (change.wallet, false);
        emit WalletChanged(merchant, from, change.wallet);
    }

    /// @notice Lets a new merchant wait longer for its first payout, while it still waits, and never
    /// longer than MAX_PAYOUT_HOLD after its registration.
    function holdPayouts(uint32 merchant, uint40 until)
        external
        onlyRole(GUARDIAN_ROLE)
        nonReentrant
    {
        uint256 heldUntil = _merchants[merchant].heldUntil;
        if (block.timestamp >= heldUntil) revert HoldHasEnded(block.timestamp, heldUntil);
        if (until <= heldUntil) revert HoldNotExtended(until, heldUntil);
        uint256 allowed = uint256(_histories[merchant].registeredAt) + MAX_PAYOUT_HOLD;
        if (until > allowed) revert HoldTooLong(until, allowed);
        _merchants[merchant].heldUntil = uint32(until);
        emit PayoutsHeld(merchant, until);
    }

    /// @notice Pays out to the registered wallet on the merchant's order. Waits while another wallet
    /// is announced: it may be announced because this one's key was stolen. All of these and refunds
    /// together are limited per hour, as a stolen key of an operator could pay all balances out.
    /// @param wallet Must be the registered one, so that nobody is paid whom the merchant did not
    /// mean.
    /// @param number Any but zero, unique per network: a second call with it pays nothing. Numbers
    /// are spread over the whole range, so each has a slot of its own.
    /// @dev Asks whether somebody holds the lock, and does not take it: all is written before the
    /// transfer. This saves 240 gas.
    function withdraw(uint32 merchant, address wallet, uint64 amount, uint64 number)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrantView
    {
        if (number == 0) revert NumberZero();
        if (_withdrawn[number] != 0) revert WithdrawalAlreadyPaid(number);
        _withdrawn[number] = 1;
        if (_takeOut(merchant, wallet, amount) & CHANGE_ANNOUNCED != 0) {
            address pending = _pendingChange(merchant).wallet;
            if (pending != address(0)) revert WalletChangePending(merchant, pending);
        }
        _outflow = _outflow.pay(amount, block.timestamp);
        _payOut(merchant, wallet, amount, number);
    }

    /// @notice Pays out to the registered wallet at its own call. Once the merchant's first payouts
    /// are not held any more, no role can pause or refuse this; no announced wallet and no ceiling
    /// delays it.
    /// @dev The event carries number 0. The balance itself is the replay guard.
    function withdrawOwn(uint32 merchant, uint64 amount) external nonReentrant {
        _takeOut(merchant, msg.sender, amount);
        _payOut(merchant, msg.sender, amount, 0);
    }

    /// @notice A merchant's wallet, its balance, and when it can withdraw; zeros for an unknown
    /// number.
    function merchantAccount(uint32 merchant)
        external
        view
        returns (address wallet, uint96 balance, uint40 heldUntil)
    {
        Merchant memory account = _merchants[merchant];
        return (account.wallet, account.balance, account.heldUntil);
    }

    /// @notice The number given to a reference, zero when it is not registered.
    function merchantOf(bytes32 merchantReference) external view returns (uint32) {
        return _merchantOf[merchantReference];
    }

    /// @notice The announced wallet, when it may be applied, and who announced it; zeros when there is
    /// none, or none any more.
    function walletChange(uint32 merchant)
        external
        view
        returns (address wallet, uint48 applicableAt, address proposer)
    {
        WalletChange memory change = _pendingChange(merchant);
        return (change.wallet, change.applicableAt, change.proposer);
    }

    function merchantCount() external view returns (uint32) {
        return _merchantCount;
    }

    /// @notice Whether an operator has paid the withdrawal of this number.
    function isWithdrawalPaid(uint64 number) external view returns (bool) {
        return _withdrawn[number] != 0;
    }

    /// @dev A registrar whose role is taken away takes its proposals along.
    function _revokeRole(bytes32 role, address account)
        internal
        virtual
        override
        returns (bool revoked)
    {
        revoked = super._revokeRole(role, account);
        if (revoked && role == REGISTRAR_ROLE) _dropProposals(account);
    }

    function _dropProposals(address proposer) private {
        _droppedAt[proposer] = block.timestamp;
        emit WalletProposalsDropped(proposer, msg.sender);
    }

    /// @return change The proposal that can still come into force; zeros when there is none.
    function _pendingChange(uint32 merchant) private view returns (WalletChange memory change) {
        WalletChange storage stored = _walletChanges[merchant];
        (address wallet, uint256 applicableAt) = (stored.wallet, stored.applicableAt);
        if (wallet == address(0)) return change;
        if (block.timestamp > applicableAt + ANNOUNCEMENT_LIFE) return change;
        uint256 proposedAt = applicableAt - WALLET_DELAY;
        address proposer = stored.proposer;
        if (proposedAt <= _droppedAt[address(0)] || proposedAt <= _droppedAt[proposer]) {
            return change;
        }
        return WalletChange(wallet, uint48(applicableAt), proposer);
    }

    /// @return account The merchant's slot as it was before.
    function _takeOut(uint32 merchant, address wallet, uint64 amount)
        private
        returns (uint256 account)
    {
        account = _debit(merchant, amount);
        address registered = address(uint160(account));
        if (wallet != registered) revert NotMerchantWallet(wallet, registered);
        uint256 heldUntil = uint32(account >> 160);
        if (block.timestamp < heldUntil) revert PayoutsAreHeld(block.timestamp, heldUntil);
    }

    function _payOut(uint32 merchant, address wallet, uint64 amount, uint64 number) private {
        emit Withdrawn(merchant, wallet, number, amount);
        TOKEN.safeTransfer(wallet, amount);
    }

    /// @return account The merchant's slot as it was before.
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

    function _countCancellation(uint32 merchant) private {
        MerchantHistory storage history = _histories[merchant];
        uint48 before = history.canceledBefore;
        uint256 allowedFrom = uint256(before) + CANCELLATION_PERIOD;
        if (before != 0 && block.timestamp < allowedFrom) {
            revert TooManyCancellations(block.timestamp, allowedFrom);
        }
        history.canceledBefore = history.canceledAt;
        history.canceledAt = uint48(block.timestamp);
    }

    /// @dev The Merchant slot as a word, for batches: zero when the merchant is not registered.
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

    function _requireWalletOrRegistrar(uint32 merchant) private view {
        address wallet = _merchants[merchant].wallet;
        if (wallet == address(0)) revert MerchantNotRegistered(merchant);
        if (msg.sender != wallet && !hasRole(REGISTRAR_ROLE, msg.sender)) {
            revert MayNotChangeWallet(msg.sender, merchant);
        }
    }

    /// @dev Money sent to these addresses would be lost or counted twice.
    function _requirePayableWallet(address wallet) private view {
        if (wallet == address(0) || wallet == address(this) || wallet == address(TOKEN)) {
            revert AddressInvalid(wallet);
        }
    }
}
