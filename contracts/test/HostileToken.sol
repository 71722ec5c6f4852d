// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A token that reports unlimited balances and answers transfers in every wrong way.
contract HostileToken {
    enum Answer {
        True,
        False,
        Nothing,
        Short,
        Two,
        InvalidOpcode,
        HugeRevert,
        RevertWithTrue,
        Reenter
    }

    Answer public answer;
    /// @notice Gas that a pull uses up before it answers true.
    uint256 public appetite;
    bytes public reentry;
    /// @notice The address that it calls during a transfer; 0 means its caller.
    address public aim;
    bool public reentered;

    function set(Answer answer_, uint256 appetite_, bytes calldata reentry_) external {
        (answer, appetite, reentry) = (answer_, appetite_, reentry_);
    }

    function aimAt(address aim_) external {
        aim = aim_;
    }

    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function allowance(address, address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }

    function transferFrom(address, address, uint256) external returns (bool) {
        _eat();
        if (answer == Answer.False) return false;
        if (answer == Answer.Nothing) _return(0, 0);
        if (answer == Answer.Short) _return(1, 31);
        if (answer == Answer.Two) _return(2, 32);
        if (answer == Answer.InvalidOpcode) assembly { invalid() }
        if (answer == Answer.HugeRevert) assembly { revert(0, 10000) }
        if (answer == Answer.RevertWithTrue) {
            assembly {
                mstore(0, 1)
                revert(0, 32)
            }
        }
        if (answer == Answer.Reenter) {
            (reentered,) = (aim == address(0) ? msg.sender : aim).call(reentry);
        }
        return true;
    }

    function _eat() private view {
        if (appetite == 0) return;
        uint256 stop = gasleft() > appetite ? gasleft() - appetite : 0;
        while (gasleft() > stop) {}
    }

    function _return(uint256 word, uint256 length) private pure {
        assembly {
            mstore(0, word)
            return(0, length)
        }
    }
}
