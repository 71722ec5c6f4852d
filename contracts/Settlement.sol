// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Governance, Setup} from "./Governance.sol";
import {Merchants} from "./Merchants.sol";
import {PackedCharges} from "./PackedCharges.sol";
import {PackedLedger} from "./PackedLedger.sol";
import {PackedPolicy} from "./PackedPolicy.sol";
import {PaymentCodec, PaymentHead, PaymentTail} from "./PaymentCodec.sol";
import {PaymentRules} from "./PaymentRules.sol";
import {Reason} from "./PaymentTypes.sol";
import {Refunds} from "./Refunds.sol";
import {SettlementLens} from "./SettlementLens.sol";
import {SpendingPolicies} from "./SpendingPolicies.sol";
import {Timelock} from "./Timelock.sol";
import {WalletChanges} from "./WalletChanges.sol";

/// @notice A payer's EIP-3009 ReceiveWithAuthorization for one payment.
/// @param bindsOrder True if the nonce also binds the payment's number and order id.
/// @param salt Chosen by the payer, so that two otherwise equal authorizations differ.
struct Authorization {
    bool bindsOrder;
    bytes32 salt;
    uint256 validAfter;
    uint256 validBefore;
    bytes signature;
}

/// @dev As in Circle's FiatTokenV2_2: ECDSA, or ERC-1271 with a signature of any length.
interface IReceiveWithAuthorization {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}

/// @title Settlement of card-less payments in one ERC-20 token.
/// @notice Pulls sale and fees from payers, credits merchants the whole sale, and keeps one Merkle
/// root per batch, so that a refund can only ever go back to the payer of a real payment.
/// @dev The token must be like USDC: no callbacks, no fee on transfer, false or revert on failure.
/// Views that only clients need are in {SettlementLens}, because the code size of a contract is
/// limited.
contract Settlement is Refunds {
    using SafeERC20 for IERC20;

    /// @notice The exact gas for each transfer from a payer, so that a payment can fail by the
    /// token's response, but never by the transaction's gas limit. Circle's USDC needs less than
    /// 60,000, and at the prices of Glamsterdam less than 270,000 (docs/gas-rules.md).
    uint256 public constant PULL_GAS = 350_000;

    /// @dev The same for an authorization, which a contract wallet may verify.
    uint256 private constant AUTHORIZED_PULL_GAS = PULL_GAS + SIGNATURE_GAS;

    bytes32 private constant AUTHORIZATION_TYPEHASH = keccak256(
        "PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,"
        "bytes8 orderId,bytes32 salt)"
    );

    /// @dev This contract's first and second creation ({deployPlanned}), and the hashes of their
    /// creation code with its arguments.
    address private immutable _LENS;
    Timelock private immutable _TIMELOCK;
    bytes32 private immutable _LENS_CODE_HASH;
    bytes32 private immutable _TIMELOCK_CODE_HASH;

    error NotPlanned(bytes32 codeHash);
    error GasTooLow(uint256 available, uint256 needed);
    error PaymentsTooLate(uint256 attemptedAt, uint256 validUntil);

    constructor(IERC20 token, Setup memory setup)
        EIP712("Tapline Settlement", "2")
        Governance(setup)
        SpendingPolicies(token)
        Merchants(setup.payoutHold)
        WalletChanges(setup.walletDelay)
    {
        // A call to an address without code succeeds, which would book sales that were never paid.
        if (address(token).code.length == 0) revert AddressInvalid(address(token));
        // Without a proposer, no role and no rate could ever change.
        if (setup.proposers.length == 0) revert AddressInvalid(address(0));
        _LENS = _creation(0x01);
        _TIMELOCK = Timelock(payable(_creation(0x02)));
        _LENS_CODE_HASH =
            keccak256(bytes.concat(type(SettlementLens).creationCode, abi.encode(token)));
        _TIMELOCK_CODE_HASH = keccak256(
            bytes.concat(
                type(Timelock).creationCode, abi.encode(setup.governanceDelay, setup.proposers)
            )
        );
        _grantRole(DEFAULT_ADMIN_ROLE, address(_TIMELOCK));
    }

    /// @notice Completes the deployment: creates the {SettlementLens}, which also prepares the
    /// storage for batches, and after it the {Timelock}. Anyone may call this, because the
    /// constructor has fixed both codes and their addresses.
    /// @dev Not in the constructor, because one transaction may not be able to pay for that much
    /// state (docs/gas-rules.md). The name was chosen for its selector, one of the highest, so that
    /// no other function costs more (see {settlePaymentSeparately}).
    /// @param creationCode The contract's creation code, followed by its encoded arguments.
    function deployPlanned(bytes memory creationCode) external returns (address planned) {
        bytes32 codeHash = keccak256(creationCode);
        bool isLens = codeHash == _LENS_CODE_HASH;
        if (!isLens && codeHash != _TIMELOCK_CODE_HASH) revert NotPlanned(codeHash);
        assembly ("memory-safe") {
            planned := create(0, add(creationCode, 0x20), mload(creationCode))
        }
        // Another address means that the creation failed, is repeated, or is out of order.
        if (planned != (isLens ? _LENS : address(_TIMELOCK))) revert NotPlanned(codeHash);
        if (isLens) _prepareStorage();
    }

    /// @inheritdoc Governance
    function timelock() public view override returns (Timelock) {
        return _TIMELOCK;
    }

    /// @notice Settles packed payments (see {PaymentCodec}). Each one settles or fails
    /// independently. A failed one emits {PaymentFailed} and writes nothing, and its number stays
    /// unused.
    /// @param validUntil The last block time at which any of them may settle: a later transaction
    /// reverts, so that no payer is charged long after the tap.
    /// @return reasons Empty if all settled. Otherwise one byte per payment: its {Reason}, 0 if it
    /// settled. For callers of eth_call.
    function settleBatch(bytes calldata payments, uint40 validUntil)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrant
        returns (bytes memory reasons)
    {
        _requireInTime(validUntil);
        uint256 count = PaymentCodec.count(payments);
        Batch memory batch = _openBatch(count);
        for (uint256 i = 0; i < count; ++i) {
            (PaymentHead head, PaymentTail tail) = PaymentCodec.read(payments, i);
            uint256 reason = _settle(batch, head, tail, PaymentCodec.leaf(payments, i));
            if (reason != Reason.NONE) {
                if (reasons.length == 0) reasons = new bytes(count);
                reasons[i] = bytes1(uint8(reason));
                emit PaymentFailed(head.number(), uint8(reason));
            }
        }
        _closeBatch(batch);
    }

    /// @notice {settleBatch} for one payment. It costs less, because its selector is one of the
    /// lowest, and solc compares selectors one after another.
    function settlePaymentSeparately(bytes calldata packed, uint40 validUntil)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrant
        returns (uint8)
    {
        _requireInTime(validUntil);
        (PaymentHead head, PaymentTail tail) = PaymentCodec.readOne(packed);
        Batch memory batch = _openBatch(1);
        uint256 reason = _settle(batch, head, tail, PaymentCodec.leaf(packed, 0));
        if (reason != Reason.NONE) emit PaymentFailed(head.number(), uint8(reason));
        _closeBatch(batch);
        return uint8(reason);
    }

    /// @notice Settles one packed payment with the payer's EIP-3009 authorization instead of a
    /// policy. Its nonce must be {authorizationNonce}, and its value sale and fees less cashback.
    /// @param validUntil As in {settleBatch}.
    function settleWithAuthorization(
        bytes calldata packed,
        Authorization calldata authorization,
        uint40 validUntil
    ) external onlyRole(OPERATOR_ROLE) nonReentrant returns (uint8) {
        _requireInTime(validUntil);
        (PaymentHead head, PaymentTail tail) = PaymentCodec.readOne(packed);
        Batch memory batch = _openBatch(1);
        (PackedCharges charges, uint256 value) = PaymentRules.charge(batch.ledger, tail.amount());
        uint256 reason = _refusal(batch, head, tail);
        if (reason == Reason.NONE) {
            reason = _pullAuthorized(head, tail, value, authorization);
        }
        if (reason == Reason.NONE) _book(batch, head, tail, charges, PaymentCodec.leaf(packed, 0));
        else emit PaymentFailed(head.number(), uint8(reason));
        _closeBatch(batch);
        return uint8(reason);
    }

    /// @notice Pays collected fees to `to`.
    function collectFees(address to, uint64 acquirerFees, uint64 protocolFees)
        external
        onlyRole(TREASURER_ROLE)
        nonReentrant
    {
        _takeBookedFees(to, acquirerFees, protocolFees);
        TOKEN.safeTransfer(to, uint256(acquirerFees) + protocolFees);
    }

    /// @notice Pays out the balance of a token that was sent here by mistake. Not possible for the
    /// payment token, which belongs to merchants or is booked as fees.
    function sweep(IERC20 stray, address to) external onlyRole(TREASURER_ROLE) nonReentrant {
        if (address(stray) == address(TOKEN)) revert AddressInvalid(address(stray));
        if (to == address(0) || to == address(this)) revert AddressInvalid(to);
        uint256 held = TOKEN.balanceOf(address(this));
        stray.safeTransfer(to, stray.balanceOf(address(this)));
        // A token may have a second address, through which the merchants' money could be paid out.
        if (TOKEN.balanceOf(address(this)) != held) revert AddressInvalid(address(stray));
    }

    /// @notice The EIP-3009 nonce that binds an authorization to its payment. Number and order id
    /// are zero in an authorization that is made before the merchant's order exists.
    function authorizationNonce(
        uint32 merchant,
        uint64 amount,
        uint64 number,
        bytes8 orderId,
        bytes32 salt
    ) public pure returns (bytes32) {
        return keccak256(
            abi.encode(AUTHORIZATION_TYPEHASH, merchant, amount, number, orderId, salt)
        );
    }

    /// @dev The address of this contract's creation with this nonce, which is below 128.
    function _creation(bytes1 nonce) private view returns (address) {
        bytes32 rlpHash = keccak256(bytes.concat(hex"d694", bytes20(address(this)), nonce));
        return address(uint160(uint256(rlpHash)));
    }

    function _requireInTime(uint40 validUntil) private view {
        if (block.timestamp > validUntil) revert PaymentsTooLate(block.timestamp, validUntil);
    }

    /// @dev Transfers before booking, so that only money that has arrived is credited. The lock
    /// keeps other calls out in between, and a refused payment has written nothing.
    function _settle(
        Batch memory batch,
        PaymentHead head,
        PaymentTail tail,
        bytes32 leaf
    ) private returns (uint256 reason) {
        reason = _refusal(batch, head, tail);
        if (reason != Reason.NONE) return reason;
        PackedLedger ledger = batch.ledger;
        PolicySlot storage slot = _policies[head.payer()];
        PackedPolicy policy;
        (reason, policy) =
            slot.policy.spend(tail.amount(), PaymentRules.feeRate(ledger), block.timestamp);
        if (reason != Reason.NONE) return reason;
        (PackedCharges charges, uint256 value) = PaymentRules.charge(ledger, tail.amount());
        reason = _pull(head.payer(), value);
        if (reason != Reason.NONE) return reason;
        slot.policy = policy;
        _book(batch, head, tail, charges, leaf);
    }

    /// @dev transferFrom in assembly, so that the call data's memory can be reused afterwards.
    function _pull(address payer, uint256 value) private returns (uint256) {
        bytes4 selector = IERC20.transferFrom.selector;
        uint256 request;
        assembly ("memory-safe") {
            request := mload(0x40)
            mstore(request, selector)
            mstore(add(request, 0x04), payer)
            mstore(add(request, 0x24), address())
            mstore(add(request, 0x44), value)
        }
        if (_callToken(request, 0x64, PULL_GAS, true)) return Reason.NONE;
        if (TOKEN.balanceOf(payer) < value) return Reason.INSUFFICIENT_FUNDS;
        if (TOKEN.allowance(payer, address(this)) < value) return Reason.INSUFFICIENT_ALLOWANCE;
        return Reason.TRANSFER_REFUSED;
    }

    function _pullAuthorized(
        PaymentHead head,
        PaymentTail tail,
        uint256 value,
        Authorization calldata authorization
    ) private returns (uint256) {
        bool binds = authorization.bindsOrder;
        bytes32 nonce = authorizationNonce(
            tail.merchant(),
            tail.amount(),
            binds ? head.number() : 0,
            binds ? tail.orderId() : bytes8(0),
            authorization.salt
        );
        bytes memory request = abi.encodeCall(
            IReceiveWithAuthorization.receiveWithAuthorization,
            (
                head.payer(),
                address(this),
                value,
                authorization.validAfter,
                authorization.validBefore,
                nonce,
                authorization.signature
            )
        );
        uint256 start;
        assembly ("memory-safe") {
            start := add(request, 0x20)
        }
        if (_callToken(start, request.length, AUTHORIZED_PULL_GAS, false)) return Reason.NONE;
        if (TOKEN.balanceOf(head.payer()) < value) return Reason.INSUFFICIENT_FUNDS;
        return Reason.AUTHORIZATION_REFUSED;
    }

    /// @dev Makes a call with an exact amount of gas and tolerates any response. More gas must be
    /// left for the call's own cost and for EIP-150, which passes on only a part; with less, the
    /// whole batch reverts.
    /// @param start Memory position of the call data, which has `length` bytes.
    /// @param answers True if the function returns a boolean; any other response than true is then
    /// a failure.
    function _callToken(uint256 start, uint256 length, uint256 pullGas, bool answers)
        private
        returns (bool succeeded)
    {
        unchecked {
            uint256 needed = pullGas + pullGas / 63 + 10_000;
            if (gasleft() < needed) revert GasTooLow(gasleft(), needed);
        }
        address token = address(TOKEN);
        assembly ("memory-safe") {
            succeeded := call(pullGas, token, 0, start, length, 0x00, 0x20)
            let affirmed := and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))
            succeeded := and(succeeded, or(affirmed, iszero(answers)))
        }
    }
}
