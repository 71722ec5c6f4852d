// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PaymentTree} from "./PaymentTree.sol";

/// @dev RING slots, and one for each height of the fewer than 2^36 batches that PackedLedger
/// counts.
uint256 constant RANGE_NODES = 256 + 36;

/// @title The Merkle mountain range over the roots of all batches, in storage that is overwritten.
/// @notice Batch b, counted from 1, writes one node. Its height h is the number of times that 2
/// divides b, and it covers the 2^h batches that end with b. A node of height 1 or more is the
/// sorted keccak256 of its two halves (see {PaymentTree}), so a payment's proof in its batch and
/// the batch's path to a node together are one proof.
/// @dev Nodes below PEAK_HEIGHT are stored in a ring, indexed by the batch that wrote them, and are
/// overwritten after RING batches. Of each height from PEAK_HEIGHT on, only the newest node is
/// stored. It is overwritten after twice the batches that it covers; during the second half of that
/// time, its parent exists too. So every batch is always below a node that will exist for more than
/// RING / 2 further batches.
library BatchRange {
    uint256 internal constant RING = 256;
    uint256 internal constant PEAK_HEIGHT = 7;

    /// @dev Fills the ring, so that no batch pays for a new slot. No proof leads to this value.
    /// Leaves the nodes of batches that have settled already.
    function fillRing(bytes32[RANGE_NODES] storage nodes) internal {
        for (uint256 i = 0; i < RING; ++i) {
            if (nodes[i] == 0) nodes[i] = bytes32(uint256(1));
        }
    }

    /// @dev Writes the node of `batch`, whose root `node` is. All earlier batches must have been
    /// written.
    function append(bytes32[RANGE_NODES] storage nodes, uint256 batch, bytes32 node) internal {
        unchecked {
            uint256 height = 0;
            for (; batch & (1 << height) == 0; ++height) {
                bytes32 left;
                uint256 index = indexOf(batch - (1 << height), height);
                assembly ("memory-safe") {
                    left := sload(add(nodes.slot, index))
                }
                node = PaymentTree.parentOf(left, node);
            }
            uint256 own = indexOf(batch, height);
            assembly ("memory-safe") {
                sstore(add(nodes.slot, own), node)
            }
        }
    }

    /// @return The storage index of the node that `batch` wrote; `height` is its height.
    function indexOf(uint256 batch, uint256 height) internal pure returns (uint256) {
        unchecked {
            return height < PEAK_HEIGHT ? batch % RING : RING + height;
        }
    }
}
