// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";

/// @title The Merkle tree over the settled payments of one batch.
/// @notice Leaves stand in settling order. Each level pairs neighbours from the left with the sorted
/// (commutative) keccak256 of OpenZeppelin's MerkleProof; a last node without a neighbour moves up
/// unchanged. So a batch of one has its leaf as root and an empty proof.
library PaymentTree {
    /// @dev Overwrites `nodes`. `width` is the number of leaves in it, at least 1.
    function root(bytes32[] memory nodes, uint256 width) internal pure returns (bytes32) {
        while (width > 1) {
            uint256 pairs = width >> 1;
            for (uint256 i = 0; i < pairs; ++i) {
                _set(nodes, i, Hashes.commutativeKeccak256(_at(nodes, 2 * i), _at(nodes, 2 * i + 1)));
            }
            if (width & 1 == 1) {
                _set(nodes, pairs, _at(nodes, width - 1));
                ++pairs;
            }
            width = pairs;
        }
        return nodes[0];
    }

    /// @dev Indexes stay below `width` by construction: the bounds check is paid once, in {root}.
    function _at(bytes32[] memory nodes, uint256 index) private pure returns (bytes32 node) {
        assembly ("memory-safe") {
            node := mload(add(add(nodes, 0x20), shl(5, index)))
        }
    }

    function _set(bytes32[] memory nodes, uint256 index, bytes32 node) private pure {
        assembly ("memory-safe") {
            mstore(add(add(nodes, 0x20), shl(5, index)), node)
        }
    }
}
