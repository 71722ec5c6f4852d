// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";

/// @title A simple model of the range over the batches, which keeps every node of every height.
library RangeModel {
    struct Range {
        uint256 batches;
        mapping(uint256 height => mapping(uint256 position => bytes32)) nodes;
        /// @dev The newest batch whose node the contract keeps at this index; zero if there is
        /// none.
        mapping(uint256 index => uint256 batch) newest;
    }

    /// @return top The node that the batch writes.
    function append(Range storage range, bytes32 root) internal returns (bytes32 top) {
        uint256 position = range.batches++;
        (uint256 height, bytes32 node) = (0, root);
        range.nodes[0][position] = node;
        for (; position % 2 == 1; position /= 2) {
            node = Hashes.commutativeKeccak256(range.nodes[height][position - 1], node);
            range.nodes[++height][position / 2] = node;
        }
        range.newest[indexOf(range.batches)] = range.batches;
        return node;
    }

    /// @dev Sets the number of earlier batches; their nodes can have any value.
    function begin(Range storage range, uint256 batches) internal {
        range.batches = batches;
        for (uint256 height = 0; height < 36; ++height) {
            uint256 position = batches >> height;
            if (position % 2 == 0) continue;
            range.nodes[height][position - 1] = keccak256(abi.encode("earlier", height));
            range.newest[indexOf(position << height)] = position << height;
        }
    }

    /// @return path The siblings between the root of `batch` and the node of `top`.
    function pathOf(Range storage range, uint256 batch, uint256 top)
        internal
        view
        returns (bytes32[] memory path)
    {
        path = new bytes32[](heightOf(top));
        uint256 position = batch - 1;
        for (uint256 height = 0; height < path.length; ++height) {
            path[height] = range.nodes[height][position ^ 1];
            position /= 2;
        }
    }

    function nodeOf(Range storage range, uint256 batch) internal view returns (bytes32) {
        uint256 height = heightOf(batch);
        return range.nodes[height][(batch >> height) - 1];
    }

    /// @return True if the contract still keeps the node of this batch.
    function keeps(Range storage range, uint256 batch) internal view returns (bool) {
        return range.newest[indexOf(batch)] == batch;
    }

    /// @return The next larger node above the node of `batch`, by the batch that writes it.
    function above(uint256 batch) internal pure returns (uint256) {
        return batch + (1 << heightOf(batch));
    }

    function heightOf(uint256 batch) internal pure returns (uint256 height) {
        while ((batch >> height) % 2 == 0) ++height;
    }

    function indexOf(uint256 batch) internal pure returns (uint256) {
        uint256 height = heightOf(batch);
        return height < 7 ? batch % 256 : 256 + height;
    }
}
