// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {PackedPolicy, PackedPolicyFields} from "./PackedPolicy.sol";
import {BASIS_POINTS, HIGHEST_FEE_RATE, MAX_AMOUNT} from "./PaymentTypes.sol";

/// @notice The limits within which this contract may charge a payer.
/// @param perPayment The highest single sale, in atoms.
/// @param perPeriod The highest sum of sales in one period, in atoms.
/// @param periodSeconds The period's length. Periods are aligned to the Unix epoch, so 86400 is the
/// UTC day.
/// @param expiresAt Unix seconds; nothing is charged from then on.
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
    bytes signature;
}

/// @dev As in Circle's FiatTokenV2_2: ECDSA, or ERC-1271 with a signature of any length.
interface IPermitBytes {
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        bytes calldata signature
    ) external;
}

/// @title Standing spending policies of payers.
/// @notice An allowance alone would let an operator empty a wallet; the policy bounds what it can
/// charge. Only the payer can set it, by a call or a signature. A new policy starts with nothing
/// spent.
abstract contract SpendingPolicies is EIP712, Nonces, ReentrancyGuardTransient {
    bytes32 private constant POLICY_TYPEHASH = keccak256(
        "SpendingPolicy(address payer,uint48 perPayment,uint48 perPeriod,uint24 periodSeconds,"
        "uint40 expiresAt,uint16 maxFeeRate,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant REVOCATION_TYPEHASH =
        keccak256("PolicyRevocation(address payer,uint256 nonce,uint256 deadline)");

    /// @notice The shortest period; a shorter one would make the cap per period meaningless.
    uint24 public constant MIN_PERIOD_SECONDS = 60;

    /// @dev The gas for a contract wallet that verifies a signature. Passkeys need about 350,000 on
    /// a chain without a precompile for them.
    uint256 internal constant SIGNATURE_GAS = 500_000;

    /// @notice The payment token.
    IERC20 public immutable TOKEN;

    /// @dev A struct with one word, so that its slot is computed once for reading and writing.
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

    /// @notice Sets the caller's policy. Signed but unused policies become void.
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
    /// @dev Either signature can be front-run, which uses its nonce but has its intended effect. So
    /// a failing permit is ignored if the allowance exists, and a policy that is already in force
    /// needs no signature. A valid signature still uses its nonce; otherwise any caller could send
    /// it later and restart the payer's period. An invalid one uses no nonce; otherwise any caller
    /// could void the payer's signatures.
    function enrol(
        address payer,
        Policy calldata policy,
        uint256 deadline,
        bytes calldata signature,
        Permit calldata permit
    ) external nonReentrant {
        bytes32 structHash = _policyHash(payer, policy, nonces(payer), deadline);
        if (
            !_policies[payer].policy.hasTermsOf(_pack(policy))
                || _hasSigned(payer, structHash, signature)
        ) _setPolicyBySignature(payer, policy, deadline, signature);
        try IPermitBytes(address(TOKEN)).permit(
            payer, address(this), permit.value, permit.deadline, permit.signature
        ) {} catch {}
        uint256 allowance = TOKEN.allowance(payer, address(this));
        uint256 needed = _highestCharge(policy);
        if (allowance < needed) revert AllowanceTooLow(allowance, needed);
    }

    /// @notice Ends the caller's policy at once, and voids signed but unused policies.
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

    /// @notice A payer's policy and the sum spent under it, in one word. {SettlementLens} decodes
    /// it.
    function policyWord(address payer) external view returns (PackedPolicy) {
        return _policies[payer].policy;
    }

    function _setPolicyBySignature(
        address payer,
        Policy calldata policy,
        uint256 deadline,
        bytes calldata signature
    ) private {
        bytes32 structHash = _policyHash(payer, policy, _useNonce(payer), deadline);
        _requireSignature(payer, structHash, deadline, signature);
        _setPolicy(payer, policy);
    }

    function _policyHash(address payer, Policy calldata policy, uint256 nonce, uint256 deadline)
        private
        pure
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                POLICY_TYPEHASH,
                payer,
                policy.perPayment,
                policy.perPeriod,
                policy.periodSeconds,
                policy.expiresAt,
                policy.maxFeeRate,
                nonce,
                deadline
            )
        );
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
        _policies[payer].policy = _pack(policy);
        emit PolicySet(
            payer,
            policy.perPayment,
            policy.perPeriod,
            policy.periodSeconds,
            policy.expiresAt,
            policy.maxFeeRate
        );
    }

    function _pack(Policy calldata policy) private pure returns (PackedPolicy) {
        return PackedPolicyFields.pack(
            policy.maxFeeRate,
            policy.expiresAt,
            policy.periodSeconds,
            policy.perPayment,
            policy.perPeriod
        );
    }

    /// @return The cost of the most expensive sale that this policy allows, including fees.
    function _highestCharge(Policy calldata policy) private pure returns (uint256) {
        uint256 rate =
            policy.maxFeeRate < HIGHEST_FEE_RATE ? policy.maxFeeRate : HIGHEST_FEE_RATE;
        uint256 sale = policy.perPayment < MAX_AMOUNT ? policy.perPayment : MAX_AMOUNT;
        return sale + sale * rate / BASIS_POINTS;
    }

    function _revoke(address payer) private {
        _policies[payer].policy = PackedPolicyFields.revoked();
        emit PolicyRevoked(payer);
    }

    /// @dev Tries ECDSA first, because an account that delegates by EIP-7702 has code but signs
    /// with its own key. Then ERC-1271 with a signature of any length, by a static call with
    /// limited gas.
    function _requireSignature(
        address signer,
        bytes32 structHash,
        uint256 deadline,
        bytes calldata signature
    ) internal view {
        if (block.timestamp > deadline) revert SignatureExpired(deadline, block.timestamp);
        if (!_hasSigned(signer, structHash, signature)) revert SignatureInvalid(signer);
    }

    function _hasSigned(address signer, bytes32 structHash, bytes calldata signature)
        private
        view
        returns (bool)
    {
        bytes32 digest = _hashTypedDataV4(structHash);
        (address recovered, ECDSA.RecoverError failure,) =
            ECDSA.tryRecoverCalldata(digest, signature);
        if (failure == ECDSA.RecoverError.NoError && recovered == signer) return true;
        return _isConfirmedByWallet(signer, digest, signature);
    }

    function _isConfirmedByWallet(address wallet, bytes32 digest, bytes calldata signature)
        private
        view
        returns (bool)
    {
        if (wallet.code.length == 0) return false;
        bytes memory question = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        bytes32 answer;
        // Copies only one word of the response, so that a long one costs the caller nothing.
        assembly ("memory-safe") {
            mstore(0x00, 0)
            let length := mload(question)
            if staticcall(SIGNATURE_GAS, wallet, add(question, 0x20), length, 0x00, 0x20) {
                if gt(returndatasize(), 0x1f) { answer := mload(0x00) }
            }
        }
        return answer == bytes32(IERC1271.isValidSignature.selector);
    }
}
