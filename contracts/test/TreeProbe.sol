// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PaymentTree} from "../PaymentTree.sol";

/// @title Exposes PaymentTree to payment-tree.test.ts.
contract TreeProbe {
    function root(bytes32[] calldata leaves) external pure returns (bytes32) {
        uint256 nodes = PaymentTree.allocate(leaves.length);
        for (uint256 i = 0; i < leaves.length; ++i) {
            PaymentTree.set(nodes, i, leaves[i]);
        }
        return PaymentTree.root(nodes, leaves.length);
    }

    function rootOf(bytes32[] calldata proof, bytes32 leaf) external pure returns (bytes32) {
        return PaymentTree.rootOf(proof, leaf);
    }
}
