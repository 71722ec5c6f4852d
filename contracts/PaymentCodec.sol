// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Payment} from "./PaymentTypes.sol";

/// @title The packed form of a payment: 45 bytes, big-endian, no padding.
/// @notice number (8) | payer (20) | merchant (4) | amount (5) | orderId (8)
/// @dev Packing saves about 650 gas per payment against ABI words. The packed bytes are also the
/// preimage of the payment's Merkle leaf; as 45 differs from the 64 bytes of an inner node, no inner
/// node can ever be passed off as a leaf.
library PaymentCodec {
    uint256 internal constant SIZE = 45;

    /// @dev Merkle proofs stay at 9 nodes, and a full batch stays below the 16.78 M gas that a
    /// transaction may use, even on a token that costs 30,000 gas per transfer.
    uint256 internal constant MAX_COUNT = 400;

    error PaymentsMalformed(uint256 length, uint256 sizeOfOne);
    error TooManyPayments(uint256 attempted, uint256 allowed);

    /// @return How many payments `packed` holds: 1 to MAX_COUNT.
    function count(bytes calldata packed) internal pure returns (uint256) {
        if (packed.length == 0 || packed.length % SIZE != 0) {
            revert PaymentsMalformed(packed.length, SIZE);
        }
        uint256 payments = packed.length / SIZE;
        if (payments > MAX_COUNT) revert TooManyPayments(payments, MAX_COUNT);
        return payments;
    }

    /// @dev Writes payment `index` into `into`; the caller has bounded `index` with {count}.
    function read(bytes calldata packed, uint256 index, Payment memory into) internal pure {
        uint256 head;
        uint256 tail;
        assembly ("memory-safe") {
            let at := add(packed.offset, mul(index, SIZE))
            head := calldataload(at)
            tail := calldataload(add(at, 28))
        }
        into.number = uint64(head >> 192);
        into.payer = address(uint160(head >> 32));
        into.merchant = uint32(tail >> 224);
        into.amount = uint40(tail >> 184);
        into.orderId = bytes8(uint64(tail >> 120));
    }

    /// @return hash The Merkle leaf of payment `index`: keccak256 of its 45 bytes.
    function leaf(bytes calldata packed, uint256 index) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            calldatacopy(0x00, add(packed.offset, mul(index, SIZE)), SIZE)
            hash := keccak256(0x00, SIZE)
        }
    }
}
