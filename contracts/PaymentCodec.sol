// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice A payment in two stack words that overlap: `head` starts with its first byte, `tail` is
/// the last 17 bytes and the bytes that follow.
/// @dev Not a struct in memory, because loading and masking its fields cost too much gas for how
/// often they are read.
type PaymentHead is uint256;

type PaymentTail is uint256;

using PaymentCodec for PaymentHead global;
using PaymentCodec for PaymentTail global;

/// @title The packed form of a payment: 45 bytes, big-endian, no padding.
/// @notice number (8) | payer (20) | merchant (4) | amount (5) | order id (8)
/// @dev Packing saves about 650 gas per payment against ABI words. The packed bytes are also the
/// preimage of the payment's Merkle leaf; because an inner node has 64 bytes, none can be passed
/// off as a leaf.
library PaymentCodec {
    uint256 internal constant SIZE = 45;

    /// @dev Bounds Merkle proofs to 9 nodes, and a full batch to less than the 16.78 M gas that a
    /// transaction may use, even on a token that costs 30,000 gas per transfer.
    uint256 internal constant MAX_COUNT = 400;

    uint256 private constant TAIL_OFFSET = 28;

    error PaymentsMalformed(uint256 length, uint256 sizeOfOne);
    error TooManyPayments(uint256 attempted, uint256 allowed);
    error NotOnePayment(uint256 attempted);

    /// @return payments The number of payments in `packed`: 1 to MAX_COUNT.
    function count(bytes calldata packed) internal pure returns (uint256 payments) {
        unchecked {
            payments = packed.length / SIZE;
            if (payments == 0 || payments * SIZE != packed.length) {
                revert PaymentsMalformed(packed.length, SIZE);
            }
            if (payments > MAX_COUNT) revert TooManyPayments(payments, MAX_COUNT);
        }
    }

    /// @dev Payment `index`, which the caller has checked against {count}.
    function read(bytes calldata packed, uint256 index)
        internal
        pure
        returns (PaymentHead head, PaymentTail tail)
    {
        assembly ("memory-safe") {
            let at := add(packed.offset, mul(index, SIZE))
            head := calldataload(at)
            tail := calldataload(add(at, TAIL_OFFSET))
        }
    }

    /// @dev The only payment in `packed`.
    function readOne(bytes calldata packed)
        internal
        pure
        returns (PaymentHead head, PaymentTail tail)
    {
        uint256 payments = count(packed);
        if (payments != 1) revert NotOnePayment(payments);
        return read(packed, 0);
    }

    /// @return hash The Merkle leaf of payment `index`: keccak256 of its 45 bytes.
    function leaf(bytes calldata packed, uint256 index) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            calldatacopy(0x00, add(packed.offset, mul(index, SIZE)), SIZE)
            hash := keccak256(0x00, SIZE)
        }
    }

    /// @return Unique per network, best handed out in sequence: it keys the replay bitmap.
    function number(PaymentHead head) internal pure returns (uint64) {
        return uint64(PaymentHead.unwrap(head) >> 192);
    }

    /// @return The wallet that pays.
    function payer(PaymentHead head) internal pure returns (address) {
        return address(uint160(PaymentHead.unwrap(head) >> 32));
    }

    /// @return The merchant's number on this contract.
    function merchant(PaymentTail tail) internal pure returns (uint32) {
        return uint32(PaymentTail.unwrap(tail) >> 224);
    }

    /// @return The sale in atoms of the token; fees come on top.
    function amount(PaymentTail tail) internal pure returns (uint40) {
        return uint40(PaymentTail.unwrap(tail) >> 184);
    }

    /// @return The merchant's order id: 1 to 8 ASCII characters, zeros on the right.
    function orderId(PaymentTail tail) internal pure returns (bytes8) {
        return bytes8(uint64(PaymentTail.unwrap(tail) >> 120));
    }

    /// @return Merchant, amount and order id as they stand in the packed payment.
    function terms(PaymentTail tail) internal pure returns (bytes17) {
        return bytes17(bytes32(PaymentTail.unwrap(tail)));
    }
}
