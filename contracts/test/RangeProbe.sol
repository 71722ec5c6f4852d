// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {BatchRange, RANGE_NODES} from "../BatchRange.sol";

/// @title Exposes BatchRange to batch-range.test.ts and BatchRange.t.sol.
contract RangeProbe {
    uint256 public batches;
    bytes32[RANGE_NODES] public rangeNode;

    function append(bytes32[] calldata roots) external {
        for (uint256 i = 0; i < roots.length; ++i) {
            BatchRange.append(rangeNode, ++batches, roots[i]);
        }
    }

    /// @dev Appends batches whose root is the hash of their number, which takes no calldata.
    function appendCounted(uint256 count) external {
        for (uint256 i = 0; i < count; ++i) {
            uint256 batch = ++batches;
            BatchRange.append(rangeNode, batch, keccak256(abi.encode(batch)));
        }
    }
}
