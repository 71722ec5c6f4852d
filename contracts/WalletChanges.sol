// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Merchants} from "./Merchants.sol";

/// @title Changes of a merchant's settlement wallet.
/// @notice A proposal must wait, can be canceled meanwhile, and expires. One call drops all
/// proposals of a registrar, so that a thief cannot outrun the watchtower by making many.
abstract contract WalletChanges is Merchants {
    bytes32 private constant WALLET_CONSENT_TYPEHASH =
        keccak256("WalletConsent(uint32 merchant,address wallet,uint256 nonce,uint256 deadline)");

    /// @notice Seconds between {proposeWallet} and {applyWallet}.
    uint48 public immutable WALLET_DELAY;

    /// @notice The time after which an applicable proposal expires.
    uint48 public constant PROPOSAL_LIFE = 7 days;

    /// @dev A proposal is valid while neither count of drops has changed since it was made.
    struct WalletChange {
        address wallet;
        uint48 applicableAt;
        uint48 dropsOfAll;
        address proposer;
        uint48 dropsOfProposer;
    }

    mapping(uint32 merchant => WalletChange) private _walletChanges;
    /// @dev The number of times that this proposer's proposals were dropped; at address 0, the
    /// proposals of all proposers. A count, because times cannot order a proposal and a drop in the
    /// same block.
    mapping(address proposer => uint48) private _drops;

    event WalletProposed(
        uint32 indexed merchant, address indexed wallet, uint48 applicableAt, address proposer
    );
    /// @param proposer Address 0: all proposers.
    event WalletProposalsDropped(address indexed proposer, address indexed by);
    event WalletProposalCanceled(uint32 indexed merchant, address indexed wallet, address by);
    event WalletChanged(uint32 indexed merchant, address indexed from, address indexed to);

    error MayNotChangeWallet(address attempted, uint32 merchant);
    error NoWalletProposed(uint32 merchant);
    error WalletAlreadyProposed(uint32 merchant, address wallet);

    constructor(uint48 walletDelay) {
        WALLET_DELAY = walletDelay;
    }

    /// @notice Announces a new wallet. It can be applied after WALLET_DELAY, during which
    /// {cancelWallet} can stop it, and expires PROPOSAL_LIFE later.
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
        _walletChanges[merchant] = WalletChange(
            wallet, applicableAt, _drops[address(0)], msg.sender, _drops[msg.sender]
        );
        _merchants[merchant].changeAnnounced = true;
        emit WalletProposed(merchant, wallet, applicableAt, msg.sender);
    }

    /// @notice Drops an announced wallet. Allowed for the registrar, guardians and the current
    /// wallet, and for a watcher if a registrar proposed it.
    function cancelWallet(uint32 merchant) external {
        WalletChange memory change = _pendingChange(merchant);
        bool mayWatch =
            hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);
        if (!mayWatch && !hasRole(GUARDIAN_ROLE, msg.sender)) _requireWalletOrRegistrar(merchant);
        if (change.wallet == address(0)) revert NoWalletProposed(merchant);
        delete _walletChanges[merchant];
        emit WalletProposalCanceled(merchant, change.wallet, msg.sender);
    }

    /// @notice Drops all earlier proposals of a registrar, for all merchants. Allowed for guardians
    /// and watchers. Its later proposals are not affected.
    function dropWalletChangesOf(address registrar) external {
        _requireGuardianOrWatcher();
        _checkRole(REGISTRAR_ROLE, registrar);
        _dropProposals(registrar);
    }

    /// @notice Drops the pending wallet change of every merchant, including those that merchants
    /// proposed. Later proposals are not affected.
    function dropWalletChanges() external onlyRole(GUARDIAN_ROLE) {
        _dropProposals(address(0));
    }

    /// @notice Applies an announced wallet. Any caller may do so, from the end of the delay until
    /// the proposal expires.
    function applyWallet(uint32 merchant) external nonReentrant {
        WalletChange memory change = _pendingChange(merchant);
        if (change.wallet == address(0)) revert NoWalletProposed(merchant);
        if (block.timestamp < change.applicableAt) {
            revert TooEarly(block.timestamp, change.applicableAt);
        }
        Merchant storage account = _merchants[merchant];
        address from = account.wallet;
        delete _walletChanges[merchant];
        (account.wallet, account.changeAnnounced) = (change.wallet, false);
        emit WalletChanged(merchant, from, change.wallet);
    }

    /// @notice The announced wallet, when it may be applied, and who announced it; zeros if there
    /// is none, or it expired or was dropped.
    function walletChange(uint32 merchant)
        external
        view
        returns (address wallet, uint48 applicableAt, address proposer)
    {
        WalletChange memory change = _pendingChange(merchant);
        return (change.wallet, change.applicableAt, change.proposer);
    }

    /// @dev Proposals of a registrar end with its role.
    function _revokeRole(bytes32 role, address account)
        internal
        virtual
        override
        returns (bool revoked)
    {
        revoked = super._revokeRole(role, account);
        if (revoked && role == REGISTRAR_ROLE) _dropProposals(account);
    }

    /// @return change The proposal that can still be applied; zeros if there is none.
    function _pendingChange(uint32 merchant) internal view returns (WalletChange memory change) {
        WalletChange memory stored = _walletChanges[merchant];
        if (block.timestamp > uint256(stored.applicableAt) + PROPOSAL_LIFE) return change;
        if (stored.dropsOfAll != _drops[address(0)]) return change;
        if (stored.dropsOfProposer != _drops[stored.proposer]) return change;
        return stored;
    }

    function _dropProposals(address proposer) private {
        ++_drops[proposer];
        emit WalletProposalsDropped(proposer, msg.sender);
    }

    function _requireWalletOrRegistrar(uint32 merchant) private view {
        address wallet = _merchants[merchant].wallet;
        if (wallet == address(0)) revert MerchantNotRegistered(merchant);
        if (msg.sender != wallet && !hasRole(REGISTRAR_ROLE, msg.sender)) {
            revert MayNotChangeWallet(msg.sender, merchant);
        }
    }
}
