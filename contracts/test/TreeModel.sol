// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";

/// @title A plain implementation of the batch tree, with which the contract's is compared.
library TreeModel {
    function root(bytes32[] memory leaves) internal pure returns (bytes32) {
        while (leaves.length > 1) leaves = levelAbove(leaves);
        return leaves[0];
    }

    /// @return path The siblings of leaf `index`, from the bottom up.
    function proof(bytes32[] memory leaves, uint256 index)
        internal
        pure
        returns (bytes32[] memory path)
    {
        path = new bytes32[](0);
        for (; leaves.length > 1; index /= 2) {
            uint256 sibling = index ^ 1;
            if (sibling < leaves.length) path = append(path, leaves[sibling]);
            leaves = levelAbove(leaves);
        }
    }

    function levelAbove(bytes32[] memory nodes) private pure returns (bytes32[] memory above) {
        above = new bytes32[]((nodes.length + 1) / 2);
        for (uint256 i = 0; i < above.length; ++i) {
            above[i] = 2 * i + 1 < nodes.length
                ? Hashes.commutativeKeccak256(nodes[2 * i], nodes[2 * i + 1])
                : nodes[2 * i];
        }
    }

    function append(bytes32[] memory list, bytes32 item)
        private
        pure
        returns (bytes32[] memory longer)
    {
        longer = new bytes32[](list.length + 1);
        for (uint256 i = 0; i < list.length; ++i) {
            longer[i] = list[i];
        }
        longer[list.length] = item;
    }
}
