// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {PackedPolicy, PackedPolicyFields} from "./PackedPolicy.sol";

/// @notice What a payer allows this contract to take, sale by sale.
/// @param perPayment The highest single sale, in atoms.
/// @param perPeriod The highest sum of sales in one period, in atoms.
/// @param periodSeconds The period's length. Periods are aligned to the Unix epoch, so 86400 is the
/// UTC day.
/// @param expiresAt Unix seconds; from then on nothing is taken.
/// @param maxFeeRate The highest sum of acquirer and protocol rate the payer accepts, in basis
/// points.
struct Policy {
    uint48 perPayment;
    uint48 perPeriod;
    uint24 periodSeconds;
    uint40 expiresAt;
    uint16 maxFeeRate;
}

/// @notice An EIP-2612 permit for this contract, as signed by the payer.
struct Permit {
    uint256 value;
    uint256 deadline;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @title Standing spending policies of payers.
/// @notice An allowance alone would let an operator empty a wallet; the policy bounds what it can
/// take. Only the payer sets it, in person or by signature. A new policy starts with nothing spent.
abstract contract SpendingPolicies is EIP712, Nonces, ReentrancyGuardTransient {
    bytes32 private constant POLICY_TYPEHASH = keccak256(
        "SpendingPolicy(address payer,uint48 perPayment,uint48 perPeriod,uint24 periodSeconds,"
        "uint40 expiresAt,uint16 maxFeeRate,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant REVOCATION_TYPEHASH =
        keccak256("PolicyRevocation(address payer,uint256 nonce,uint256 deadline)");

    /// @notice A period shorter than this would make the cap per period meaningless.
    uint24 public constant MIN_PERIOD_SECONDS = 60;

    /// @notice The token that payments are made in.
    IERC20 public immutable TOKEN;

    /// @dev A struct of one word, so that its slot is computed once for reading and writing.
    struct PolicySlot {
        PackedPolicy policy;
    }

    mapping(address payer => PolicySlot) internal _policies;

    event PolicySet(
        address indexed payer,
        uint48 perPayment,
        uint48 perPeriod,
        uint24 periodSeconds,
        uint40 expiresAt,
        uint16 maxFeeRate
    );
    event PolicyRevoked(address indexed payer);

    error PerPaymentCapZero();
    error PerPeriodCapBelowPerPayment(uint256 perPeriod, uint256 perPayment);
    error PeriodTooShort(uint256 attempted, uint256 allowed);
    error ExpiryInThePast(uint256 attempted, uint256 current);
    error SignatureExpired(uint256 deadline, uint256 current);
    error SignatureInvalid(address signer);
    error AllowanceTooLow(uint256 allowance, uint256 needed);

    constructor(IERC20 token) {
        TOKEN = token;
    }

    /// @notice Sets the caller's policy. Signed policies that were not used yet become void.
    function setPolicy(Policy calldata policy) external nonReentrant {
        _useNonce(msg.sender);
        _setPolicy(msg.sender, policy);
    }

    /// @notice Sets a payer's policy with the payer's signature; anyone may send it.
    function setPolicyBySignature(
        address payer,
        Policy calldata policy,
        uint256 deadline,
        bytes calldata signature
    ) external nonReentrant {
        _setPolicyBySignature(payer, policy, deadline, signature);
    }

    /// @notice Permit and policy in one relayed transaction, so that a payer needs no gas.
    /// @dev A permit can be front-run, which uses up its nonce but leaves its allowance behind. So
    /// a permit that fails is no failure as long as the allowance is there.
    function enrol(
        address payer,
        Policy calldata policy,
        uint256 deadline,
        bytes calldata signature,
        Permit calldata permit
    ) external nonReentrant {
        _setPolicyBySignature(payer, policy, deadline, signature);
        try IERC20Permit(address(TOKEN)).permit(
            payer, address(this), permit.value, permit.deadline, permit.v, permit.r, permit.s
        ) {} catch {}
        uint256 allowance = TOKEN.allowance(payer, address(this));
        if (allowance < policy.perPayment) revert AllowanceTooLow(allowance, policy.perPayment);
    }

    /// @notice Ends the caller's policy at once; voids signed policies that were not used yet.
    function revokePolicy() external nonReentrant {
        _useNonce(msg.sender);
        _revoke(msg.sender);
    }

    /// @notice Ends a payer's policy with the payer's signature; anyone may send it.
    function revokePolicyBySignature(address payer, uint256 deadline, bytes calldata signature)
        external
        nonReentrant
    {
        bytes32 structHash =
            keccak256(abi.encode(REVOCATION_TYPEHASH, payer, _useNonce(payer), deadline));
        _requireSignature(payer, structHash, deadline, signature);
        _revoke(payer);
    }

    function _setPolicyBySignature(
        address payer,
        Policy calldata policy,
        uint256 deadline,
        bytes calldata signature
    ) private {
        bytes32 structHash = keccak256(
            abi.encode(
                POLICY_TYPEHASH,
                payer,
                policy.perPayment,
                policy.perPeriod,
                policy.periodSeconds,
                policy.expiresAt,
                policy.maxFeeRate,
                _useNonce(payer),
                deadline
            )
        );
        _requireSignature(payer, structHash, deadline, signature);
        _setPolicy(payer, policy);
    }

    function _setPolicy(address payer, Policy calldata policy) private {
        if (policy.perPayment == 0) revert PerPaymentCapZero();
        if (policy.perPeriod < policy.perPayment) {
            revert PerPeriodCapBelowPerPayment(policy.perPeriod, policy.perPayment);
        }
        if (policy.periodSeconds < MIN_PERIOD_SECONDS) {
            revert PeriodTooShort(policy.periodSeconds, MIN_PERIOD_SECONDS);
        }
        if (policy.expiresAt <= block.timestamp) {
            revert ExpiryInThePast(policy.expiresAt, block.timestamp);
        }
        _policies[payer].policy = PackedPolicyFields.pack(
            policy.maxFeeRate,
            policy.expiresAt,
            policy.periodSeconds,
            policy.perPayment,
            policy.perPeriod
        );
        emit PolicySet(
            payer,
            policy.perPayment,
            policy.perPeriod,
            policy.periodSeconds,
            policy.expiresAt,
            policy.maxFeeRate
        );
    }

    function _revoke(address payer) private {
        _policies[payer].policy = PackedPolicyFields.revoked();
        emit PolicyRevoked(payer);
    }

    /// @dev Also accepts the ERC-1271 signature of a contract wallet.
    function _requireSignature(
        address signer,
        bytes32 structHash,
        uint256 deadline,
        bytes calldata signature
    ) internal view {
        if (block.timestamp > deadline) revert SignatureExpired(deadline, block.timestamp);
        bytes32 digest = _hashTypedDataV4(structHash);
        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {
            revert SignatureInvalid(signer);
        }
    }
}
