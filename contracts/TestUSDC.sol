// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title A stand-in for USDC on test networks: 6 decimals, EIP-2612, EIP-3009 and a faucet.
/// @dev Like Circle's token where that affects cost or behavior: behind a proxy, with a pause and a
/// blocklist that each transfer checks, signatures as `bytes` (ECDSA, or ERC-1271 of any length),
/// and allowances that every transfer lowers, even the highest.
/// @notice Has no value. Any caller can mint. The owner can block an address, as Circle can.
contract TestUSDCLogic is ERC20Permit, ERC3009 {
    bytes32 private constant PERMIT_TYPEHASH = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );

    address public owner;
    /// @notice True while all transfers are paused, as Circle can do.
    bool public paused;
    mapping(address account => bool) public isBlacklisted;

    event PausedSet(bool paused);
    event BlockedSet(address indexed account, bool blocked);

    error AccountBlocked(address account);
    error TokenPaused();
    error NotOwner(address attempted);
    error AlreadyInitialized();

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    constructor() ERC20("", "") ERC20Permit("Test USD Coin") {}

    /// @dev Called by the proxy's constructor.
    function initialize(address owner_) external {
        if (owner != address(0)) revert AlreadyInitialized();
        owner = owner_;
    }

    function name() public pure override returns (string memory) {
        return "Test USD Coin";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice The faucet.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice Blocks an account from sending and receiving, or unblocks it.
    function setBlocked(address account, bool blocked) external onlyOwner {
        isBlacklisted[account] = blocked;
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

    /// @notice Pauses or resumes all transfers.
    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
        emit PausedSet(paused_);
    }

    function _update(address from, address to, uint256 value) internal override {
        if (paused) revert TokenPaused();
        if (isBlacklisted[from]) revert AccountBlocked(from);
        if (isBlacklisted[to]) revert AccountBlocked(to);
        super._update(from, to, value);
    }

    /// @dev The highest allowance is not unlimited: transfers lower it, as with Circle's token.
    function _spendAllowance(address owner_, address spender, uint256 value) internal override {
        uint256 allowed = allowance(owner_, spender);
        if (allowed < value) revert ERC20InsufficientAllowance(spender, allowed, value);
        unchecked {
            _approve(owner_, spender, allowed - value, false);
        }
    }
}

/// @title The token's address: a proxy like Circle's.
/// @dev Each call reads both slots. The implementation never changes.
contract TestUSDC {
    bytes32 private constant LOGIC = keccak256("tapline.test-usdc.logic");
    bytes32 private constant PROXY_ADMIN = keccak256("tapline.test-usdc.admin");

    error AdminMayNot();

    constructor(address owner) {
        address logic = address(new TestUSDCLogic());
        (bytes32 logicSlot, bytes32 adminSlot) = (LOGIC, PROXY_ADMIN);
        assembly ("memory-safe") {
            sstore(logicSlot, logic)
            sstore(adminSlot, 0xdead)
        }
        (bool done,) = logic.delegatecall(abi.encodeCall(TestUSDCLogic.initialize, (owner)));
        if (!done) revert AdminMayNot();
    }

    fallback() external {
        (bytes32 logicSlot, bytes32 adminSlot) = (LOGIC, PROXY_ADMIN);
        address admin;
        assembly ("memory-safe") {
            admin := sload(adminSlot)
        }
        if (msg.sender == admin) revert AdminMayNot();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(logicSlot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
