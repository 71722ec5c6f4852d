// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Merchants} from "./Merchants.sol";

/// @title How a merchant gets another settlement wallet.
/// @notice A proposal waits, can be canceled meanwhile, and lapses. One call drops all proposals of a
/// registrar, however many: a thief must not be able to outrun the watchtower with a flood.
abstract contract WalletChanges is Merchants {
    bytes32 private constant WALLET_CONSENT_TYPEHASH =
        keccak256("WalletConsent(uint32 merchant,address wallet,uint256 nonce,uint256 deadline)");

    /// @notice Seconds between {proposeWallet} and {applyWallet}.
    uint48 public immutable WALLET_DELAY;

    /// @notice A proposal lapses this long after it could have come into force.
    uint48 public constant PROPOSAL_LIFE = 7 days;

    /// @dev Valid while neither count of drops has changed since the proposal.
    struct WalletChange {
        address wallet;
        uint48 applicableAt;
        uint48 dropsOfAll;
        address proposer;
        uint48 dropsOfProposer;
    }

    mapping(uint32 merchant => WalletChange) private _walletChanges;
    /// @dev How often the proposals of this proposer were dropped; at address 0, those of all proposers.
    /// A count, as a time could not order a proposal and a drop in the same block.
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

    /// @notice Announces a new wallet; it waits WALLET_DELAY, in which {cancelWallet} can stop it, and
    /// lapses PROPOSAL_LIFE later.
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

    /// @notice Drops an announced wallet: the registrar, the guardian and the present wallet may, and
    /// a watcher if the registrar proposed it.
    function cancelWallet(uint32 merchant) external {
        WalletChange memory change = _pendingChange(merchant);
        bool mayWatch =
            hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);
        if (!mayWatch && !hasRole(GUARDIAN_ROLE, msg.sender)) _requireWalletOrRegistrar(merchant);
        if (change.wallet == address(0)) revert NoWalletProposed(merchant);
        delete _walletChanges[merchant];
        emit WalletProposalCanceled(merchant, change.wallet, msg.sender);
    }

    /// @notice Drops all proposals of a registrar until now, for all merchants: the guardian may, and a
    /// watcher. Its later proposals wait and apply as usual.
    function dropWalletChangesOf(address registrar) external {
        _requireGuardianOrWatcher();
        _checkRole(REGISTRAR_ROLE, registrar);
        _dropProposals(registrar);
    }

    /// @notice Drops the pending wallet change of every merchant, also those that the merchants proposed.
    /// Later proposals wait and apply as usual.
    function dropWalletChanges() external onlyRole(GUARDIAN_ROLE) {
        _dropProposals(address(0));
    }

    /// @notice Puts an announced wallet into force. Anyone may, once the delay has passed, until the
    /// proposal lapses.
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

    /// @notice The announced wallet, when it may be applied, and who announced it; zeros when there is
    /// none, or when it lapsed or was dropped.
    function walletChange(uint32 merchant)
        external
        view
        returns (address wallet, uint48 applicableAt, address proposer)
    {
        WalletChange memory change = _pendingChange(merchant);
        return (change.wallet, change.applicableAt, change.proposer);
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

    /// @return change The proposal that can still come into force; zeros when there is none.
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
