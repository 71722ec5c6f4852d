// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title A stand-in for USDC on test networks: 6 decimals, EIP-2612, EIP-3009 and a faucet.
/// @dev Like Circle's, it also takes authorizations as `bytes`: ECDSA, or ERC-1271 of any length.
/// @notice Worth nothing. Anybody can mint. The owner can block an address, as Circle can.
contract TestUSDC is ERC20Permit, ERC3009, Ownable {
    mapping(address account => bool) public isBlacklisted;

    bytes32 private constant PERMIT_TYPEHASH = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );

    /// @dev Spares transfers two storage reads as long as nobody is blocked.
    uint256 private _blockedCount;

    /// @notice Whether nothing moves now, as Circle can bring about.
    bool public paused;

    event PausedSet(bool paused);
    event BlockedSet(address indexed account, bool blocked);

    error AccountBlocked(address account);
    error TokenPaused();

    constructor(address owner)
        ERC20("Test USD Coin", "USDC")
        ERC20Permit("Test USD Coin")
        Ownable(owner)
    {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice The faucet.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice Blocks an account from sending and receiving, or lets it again.
    function setBlocked(address account, bool blocked) external onlyOwner {
        if (isBlacklisted[account] != blocked) {
            isBlacklisted[account] = blocked;
            if (blocked) ++_blockedCount;
            else --_blockedCount;
        }
        emit BlockedSet(account, blocked);
    }

    /// @notice EIP-3009 with a signature of any length.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        if (to != msg.sender) revert ERC20InvalidReceiver(to);
        bytes32 structHash = keccak256(
            abi.encode(
                RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce
            )
        );
        bytes32 digest = _hashTypedDataV4(structHash);
        if (!SignatureChecker.isValidSignatureNowCalldata(from, digest, signature)) {
            revert ERC3009InvalidSignature();
        }
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @notice EIP-2612 with a signature of any length.
    function permit(
        address owner_,
        address spender,
        uint256 value,
        uint256 deadline,
        bytes calldata signature
    ) external {
        if (block.timestamp > deadline) revert ERC2612ExpiredSignature(deadline);
        bytes32 structHash = keccak256(
            abi.encode(PERMIT_TYPEHASH, owner_, spender, value, _useNonce(owner_), deadline)
        );
        bytes32 digest = _hashTypedDataV4(structHash);
        if (!SignatureChecker.isValidSignatureNowCalldata(owner_, digest, signature)) {
            revert ERC2612InvalidSigner(address(0), owner_);
        }
        _approve(owner_, spender, value);
    }

    /// @notice Stops all transfers, or lets them again.
    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
        emit PausedSet(paused_);
    }

    function _update(address from, address to, uint256 value) internal override {
        if (paused) revert TokenPaused();
        if (_blockedCount != 0) {
            if (isBlacklisted[from]) revert AccountBlocked(from);
            if (isBlacklisted[to]) revert AccountBlocked(to);
        }
        super._update(from, to, value);
    }
}
