// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {Governance, Setup} from "./Governance.sol";
import {Merchants} from "./Merchants.sol";
import {PaymentCodec} from "./PaymentCodec.sol";
import {PaymentTree} from "./PaymentTree.sol";
import {MAX_AMOUNT, Payment, Reason} from "./PaymentTypes.sol";
import {SpendingPolicies} from "./SpendingPolicies.sol";

/// @notice A payer's EIP-3009 ReceiveWithAuthorization for one payment.
/// @param bindsOrder Whether the nonce also binds the payment's number and order id.
/// @param salt Chosen by the payer, so that two like authorizations differ.
struct Authorization {
    bool bindsOrder;
    bytes32 salt;
    uint256 validAfter;
    uint256 validBefore;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @notice What {payerAccount} knows of a payer. `spent` is that of the current period.
struct PayerAccount {
    uint256 balance;
    uint256 allowance;
    uint256 nonce;
    uint48 perPayment;
    uint48 perPeriod;
    uint48 spent;
    uint24 periodSeconds;
    uint40 expiresAt;
    uint16 maxFeeRate;
}

/// @title Settlement of card-less payments in one ERC-20 token.
/// @notice Pulls sale and fees from payers, credits merchants the whole sale, and keeps one Merkle
/// root per batch, so that a refund can only ever go back to the payer of a real payment.
/// @dev The token must be like USDC: no callbacks, no fee on transfer, false or revert on failure.
contract Settlement is Merchants {
    using SafeERC20 for IERC20;

    /// @notice The gas that each pull from a payer gets, always: a payment fails by the token's
    /// answer and never by the transaction's gas limit. Circle's USDC needs less than 60,000.
    uint256 public constant PULL_GAS = 200_000;

    /// @dev What must be left before a pull so that EIP-150 lets PULL_GAS through, with what the
    /// call itself costs. With less the whole batch reverts.
    uint256 private constant GAS_BEFORE_PULL = PULL_GAS + PULL_GAS / 63 + 10_000;

    /// @notice How many refunds, refused ones not counted, one payment can have.
    uint256 public constant MAX_REFUNDS = 200;

    bytes32 private constant AUTHORIZATION_TYPEHASH = keccak256(
        "PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,bytes8 orderId,bytes32 salt)"
    );

    /// @dev One slot. Bit i of `indexes` says that refund i was paid.
    struct Refunds {
        uint40 total;
        uint216 indexes;
    }

    struct Charges {
        uint256 acquirerFee;
        uint256 protocolFee;
        uint256 cashback;
        uint256 pulled;
    }

    /// @dev A batch under way: what is read once, changed in memory and written back at its end.
    struct Batch {
        Ledger ledger;
        uint256 wordIndex;
        uint256 word;
        uint32 merchant;
        Merchant account;
        bytes32[] leaves;
        uint256 settled;
    }

    mapping(uint256 word => uint256 bits) private _settledNumbers;
    mapping(uint48 batch => bytes32 root) private _roots;
    mapping(uint64 number => Refunds) private _refunds;

    event PaymentSettled(
        uint64 indexed number,
        address indexed payer,
        uint32 indexed merchant,
        uint48 batch,
        bytes8 orderId,
        uint64 amount,
        uint64 acquirerFee,
        uint64 protocolFee,
        uint64 cashback
    );
    event PaymentFailed(uint64 indexed number, Reason reason);
    event BatchSettled(uint48 indexed batch, bytes32 root, uint32 payments);
    event PaymentRefunded(
        uint64 indexed number,
        address indexed payer,
        uint32 indexed merchant,
        uint8 index,
        uint64 amount,
        uint64 totalRefunded
    );

    error GasTooLow(uint256 available, uint256 needed);
    error NotOnePayment(uint256 attempted);
    error PaymentNotInBatch(uint64 number, uint48 batch);
    error RefundIndexTooHigh(uint256 attempted, uint256 allowed);
    error RefundAlreadyPaid(uint64 number, uint8 index);
    error RefundTooHigh(uint256 attempted, uint256 allowed);

    constructor(IERC20 token, Setup memory setup)
        EIP712("Tapline Settlement", "1")
        Governance(setup)
        SpendingPolicies(token)
        Merchants(setup.walletDelay)
    {}

    /// @notice Settles packed payments (see {PaymentCodec}). Each one settles or fails alone; a
    /// failed one emits {PaymentFailed}, writes nothing, and its number stays unused.
    /// @return reasons One byte per payment: its {Reason}, 0 when settled. Made for eth_call.
    function settleBatch(bytes calldata payments)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrant
        returns (bytes memory reasons)
    {
        uint256 count = PaymentCodec.count(payments);
        Batch memory batch = _open(count);
        Payment memory payment;
        reasons = new bytes(count);
        for (uint256 i = 0; i < count; ++i) {
            PaymentCodec.read(payments, i, payment);
            Reason reason = _settle(batch, payment, PaymentCodec.leaf(payments, i));
            if (reason != Reason.None) reasons[i] = bytes1(uint8(reason));
        }
        _close(batch);
    }

    /// @notice Settles one packed payment with the payer's EIP-3009 authorization instead of a policy.
    /// Its nonce must be {authorizationNonce}, its value sale and fees less cashback.
    function settleWithAuthorization(bytes calldata payment_, Authorization calldata authorization)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrant
        returns (Reason reason)
    {
        Payment memory payment = _readOne(payment_);
        Batch memory batch = _open(1);
        reason = _refusal(batch, payment);
        Charges memory charges = _charges(batch.ledger, payment.amount);
        if (reason == Reason.None) reason = _pullAuthorized(payment, charges.pulled, authorization);
        if (reason == Reason.None) _book(batch, payment, charges, PaymentCodec.leaf(payment_, 0));
        else emit PaymentFailed(payment.number, reason);
        _close(batch);
    }

    /// @notice Pays back to the payer of a settled payment out of the merchant's balance.
    /// @param payment_ The packed payment, exactly as it was settled.
    /// @param proof The Merkle proof of its leaf in the batch's tree (see {PaymentTree}).
    /// @param index Numbers the refunds of this payment from 0: a second call with it pays nothing.
    function refund(
        bytes calldata payment_,
        uint48 batch,
        bytes32[] calldata proof,
        uint8 index,
        uint64 amount
    ) external onlyRole(OPERATOR_ROLE) nonReentrant {
        if (_ledger.refundingPaused) revert RefundingIsPaused();
        Payment memory payment = _readOne(payment_);
        bytes32 root = _roots[batch];
        bool known = root != 0
            && MerkleProof.verifyCalldata(proof, root, PaymentCodec.leaf(payment_, 0));
        if (!known) revert PaymentNotInBatch(payment.number, batch);
        uint64 total = _countRefund(payment, index, amount);
        _debit(payment.merchant, amount);
        emit PaymentRefunded(payment.number, payment.payer, payment.merchant, index, amount, total);
        TOKEN.safeTransfer(payment.payer, amount);
    }

    /// @notice Pays booked fees out to `to`.
    function collectFees(address to, uint64 acquirerFees, uint64 protocolFees)
        external
        onlyRole(TREASURER_ROLE)
        nonReentrant
    {
        _takeBookedFees(to, acquirerFees, protocolFees);
        TOKEN.safeTransfer(to, uint256(acquirerFees) + protocolFees);
    }

    /// @notice What would fail now, payment by payment, each seen alone. A payer that the token
    /// blocks shows only in an eth_call of {settleBatch}.
    function preflight(bytes calldata payments) external view returns (Reason[] memory reasons) {
        uint256 count = PaymentCodec.count(payments);
        reasons = new Reason[](count);
        Payment memory payment;
        for (uint256 i = 0; i < count; ++i) {
            PaymentCodec.read(payments, i, payment);
            reasons[i] = _preflight(payment);
        }
    }

    /// @notice All that this contract and the token know of a payer.
    function payerAccount(address payer) public view returns (PayerAccount memory) {
        StoredPolicy memory policy = _currentPolicy(payer);
        return PayerAccount({
            balance: TOKEN.balanceOf(payer),
            allowance: TOKEN.allowance(payer, address(this)),
            nonce: nonces(payer),
            perPayment: policy.perPayment,
            perPeriod: policy.perPeriod,
            spent: policy.spent,
            periodSeconds: policy.periodSeconds,
            expiresAt: policy.expiresAt,
            maxFeeRate: policy.maxFeeRate
        });
    }

    /// @notice {payerAccount} of many payers at once.
    function payerAccounts(address[] calldata payers) external view returns (PayerAccount[] memory accounts) {
        accounts = new PayerAccount[](payers.length);
        for (uint256 i = 0; i < payers.length; ++i) accounts[i] = payerAccount(payers[i]);
    }

    /// @notice What a sale costs its payer now: fees, cashback and the atoms that leave the wallet.
    function quote(uint64 amount)
        external
        view
        returns (uint256 acquirerFee, uint256 protocolFee, uint256 cashback, uint256 pulled)
    {
        Charges memory charges = _charges(_ledger, amount);
        return (charges.acquirerFee, charges.protocolFee, charges.cashback, charges.pulled);
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

    function isSettled(uint64 number) public view returns (bool) {
        return (_settledNumbers[number >> 8] >> (number & 0xff)) & 1 == 1;
    }

    /// @notice The Merkle root of a batch; zero when there is no such batch.
    function batchRoot(uint48 batch) external view returns (bytes32) {
        return _roots[batch];
    }

    /// @notice Atoms refunded of a payment, and a bit for each refund index that was paid.
    function refundsOf(uint64 number) external view returns (uint64 total, uint216 indexes) {
        Refunds memory refunds = _refunds[number];
        return (refunds.total, refunds.indexes);
    }

    function _open(uint256 count) private view returns (Batch memory batch) {
        batch.ledger = _ledger;
        if (batch.ledger.settlingPaused) revert SettlingIsPaused();
        batch.ledger.batches += 1;
        batch.leaves = new bytes32[](count);
        // No number lies in this word and no wallet belongs to merchant 0: the first payment loads both.
        batch.wordIndex = type(uint256).max;
    }

    /// @dev Pulls before it books: what is pulled in is credited only when it has arrived. The lock
    /// keeps everything else out in between, and a refused payment has written nothing.
    function _settle(Batch memory batch, Payment memory payment, bytes32 leaf)
        private
        returns (Reason reason)
    {
        reason = _refusal(batch, payment);
        StoredPolicy memory policy;
        Charges memory charges;
        if (reason == Reason.None) {
            (reason, policy) = _spend(payment.payer, payment.amount, _feeRate(batch.ledger));
        }
        if (reason == Reason.None) {
            charges = _charges(batch.ledger, payment.amount);
            reason = _pull(payment.payer, charges.pulled);
        }
        if (reason == Reason.None) {
            _savePolicy(payment.payer, policy);
            _book(batch, payment, charges, leaf);
        } else {
            emit PaymentFailed(payment.number, reason);
        }
    }

    /// @dev The checks that every payment passes, however its payer agreed to it. Loads the
    /// payment's bitmap word and merchant into the batch.
    function _refusal(Batch memory batch, Payment memory payment) private returns (Reason) {
        Reason reason = _malformation(payment);
        if (reason != Reason.None) return reason;
        uint256 wordIndex = payment.number >> 8;
        if (wordIndex != batch.wordIndex) {
            _flushWord(batch);
            batch.wordIndex = wordIndex;
            batch.word = _settledNumbers[wordIndex];
        }
        if ((batch.word >> (payment.number & 0xff)) & 1 == 1) return Reason.AlreadySettled;
        if (payment.merchant != batch.merchant) {
            _flushMerchant(batch);
            batch.merchant = payment.merchant;
            batch.account = _merchants[payment.merchant];
        }
        if (batch.account.wallet == address(0)) return Reason.MerchantUnknown;
        return Reason.None;
    }

    function _book(Batch memory batch, Payment memory payment, Charges memory charges, bytes32 leaf)
        private
    {
        batch.word |= 1 << (payment.number & 0xff);
        batch.account.balance += payment.amount;
        batch.ledger.acquirerFees += uint64(charges.acquirerFee);
        batch.ledger.protocolFees += uint64(charges.protocolFee - charges.cashback);
        batch.leaves[batch.settled] = leaf;
        batch.settled += 1;
        emit PaymentSettled(
            payment.number,
            payment.payer,
            payment.merchant,
            batch.ledger.batches,
            payment.orderId,
            payment.amount,
            uint64(charges.acquirerFee),
            uint64(charges.protocolFee),
            uint64(charges.cashback)
        );
    }

    function _close(Batch memory batch) private {
        if (batch.settled == 0) return;
        _flushWord(batch);
        _flushMerchant(batch);
        _ledger = batch.ledger;
        bytes32 root = PaymentTree.root(batch.leaves, batch.settled);
        _roots[batch.ledger.batches] = root;
        emit BatchSettled(batch.ledger.batches, root, uint32(batch.settled));
    }

    function _flushWord(Batch memory batch) private {
        // A word without a bit was never settled into, or not loaded.
        if (batch.word != 0) _settledNumbers[batch.wordIndex] = batch.word;
    }

    function _flushMerchant(Batch memory batch) private {
        if (batch.account.wallet != address(0)) _merchants[batch.merchant] = batch.account;
    }

    /// @dev The call is made by hand to give it an exact amount of gas and to survive any answer.
    function _pull(address payer, uint256 value) private returns (Reason) {
        bytes memory request = abi.encodeCall(IERC20.transferFrom, (payer, address(this), value));
        if (_callToken(request, true)) return Reason.None;
        if (TOKEN.balanceOf(payer) < value) return Reason.InsufficientFunds;
        if (TOKEN.allowance(payer, address(this)) < value) return Reason.InsufficientAllowance;
        return Reason.TransferRefused;
    }

    function _pullAuthorized(
        Payment memory payment,
        uint256 value,
        Authorization calldata authorization
    ) private returns (Reason) {
        bool binds = authorization.bindsOrder;
        bytes32 nonce = authorizationNonce(
            payment.merchant,
            payment.amount,
            binds ? payment.number : 0,
            binds ? payment.orderId : bytes8(0),
            authorization.salt
        );
        bytes memory request = abi.encodeCall(
            IERC3009.receiveWithAuthorization,
            (
                payment.payer,
                address(this),
                value,
                authorization.validAfter,
                authorization.validBefore,
                nonce,
                authorization.v,
                authorization.r,
                authorization.s
            )
        );
        if (_callToken(request, false)) return Reason.None;
        if (TOKEN.balanceOf(payment.payer) < value) return Reason.InsufficientFunds;
        return Reason.AuthorizationRefused;
    }

    /// @dev True when the call succeeded and, where a boolean answer is due, did not answer false.
    function _callToken(bytes memory request, bool answers) private returns (bool succeeded) {
        if (gasleft() < GAS_BEFORE_PULL) revert GasTooLow(gasleft(), GAS_BEFORE_PULL);
        address token = address(TOKEN);
        uint256 pullGas = PULL_GAS;
        assembly ("memory-safe") {
            succeeded := call(pullGas, token, 0, add(request, 0x20), mload(request), 0x00, 0x20)
            if and(succeeded, answers) {
                succeeded := and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))
            }
        }
    }

    /// @return total Atoms refunded of the payment, this refund included.
    function _countRefund(Payment memory payment, uint8 index, uint64 amount)
        private
        returns (uint64 total)
    {
        if (index >= MAX_REFUNDS) revert RefundIndexTooHigh(index, MAX_REFUNDS - 1);
        Refunds memory refunds = _refunds[payment.number];
        uint216 bit = uint216(1) << index;
        if (refunds.indexes & bit != 0) revert RefundAlreadyPaid(payment.number, index);
        uint64 refundable = payment.amount - refunds.total;
        if (amount > refundable) revert RefundTooHigh(amount, refundable);
        total = refunds.total + amount;
        // At most the payment's amount, which is below 2^40.
        _refunds[payment.number] = Refunds(uint40(total), refunds.indexes | bit);
    }

    function _preflight(Payment memory payment) private view returns (Reason reason) {
        reason = _malformation(payment);
        if (reason != Reason.None) return reason;
        if (isSettled(payment.number)) return Reason.AlreadySettled;
        if (_merchants[payment.merchant].wallet == address(0)) return Reason.MerchantUnknown;
        Ledger memory ledger = _ledger;
        (reason,) = _spend(payment.payer, payment.amount, _feeRate(ledger));
        if (reason != Reason.None) return reason;
        uint256 value = _charges(ledger, payment.amount).pulled;
        if (TOKEN.balanceOf(payment.payer) < value) return Reason.InsufficientFunds;
        if (TOKEN.allowance(payment.payer, address(this)) < value) return Reason.InsufficientAllowance;
        return Reason.None;
    }

    function _malformation(Payment memory payment) private pure returns (Reason) {
        if (payment.amount == 0 || payment.amount > MAX_AMOUNT) return Reason.AmountInvalid;
        if (payment.orderId[0] == 0) return Reason.OrderIdInvalid;
        return Reason.None;
    }

    function _charges(Ledger memory ledger, uint256 amount) private pure returns (Charges memory charges) {
        charges.acquirerFee = _share(amount, ledger.acquirerRate);
        charges.protocolFee = _share(amount, ledger.protocolRate);
        charges.cashback = _share(amount, ledger.cashbackRate);
        charges.pulled = amount + charges.acquirerFee + charges.protocolFee - charges.cashback;
    }

    function _feeRate(Ledger memory ledger) private pure returns (uint256) {
        return uint256(ledger.acquirerRate) + ledger.protocolRate;
    }

    function _readOne(bytes calldata packed) private pure returns (Payment memory payment) {
        uint256 count = PaymentCodec.count(packed);
        if (count != 1) revert NotOnePayment(count);
        PaymentCodec.read(packed, 0, payment);
    }
}
