// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

/// @title A deployment is completed in steps, by anyone, and only as the constructor planned it.
contract DeploymentTest is SettlementFixture {
    ISettlement private fresh;
    bytes private lensCode;
    bytes private timelockCode;

    function setUp() public override {
        super.setUp();
        fresh = ISettlement(deploy("Settlement", abi.encode(address(token), _setup())));
        lensCode = _lensCode(address(token));
        timelockCode = _timelockCode();
    }

    function test_anyoneCompletesADeployment() public {
        vm.prank(STRANGER);
        address lens_ = fresh.deployPlanned(lensCode);
        assertEq(lens_, firstCreationOf(address(fresh)), "lens");
        vm.prank(STRANGER);
        address timelock_ = fresh.deployPlanned(timelockCode);
        assertEq(timelock_, address(fresh.timelock()), "timelock");
        assertTrue(fresh.hasRole(0x00, timelock_), "the timelock is the admin");
        assertTrue(timelock_.code.length > 0 && lens_.code.length > 0, "both have code");
    }

    function test_eachStepIsMadeOnceAndInOrder() public {
        _refuses(timelockCode, "the timelock before the lens");
        fresh.deployPlanned(lensCode);
        _refuses(lensCode, "a second lens");
        fresh.deployPlanned(timelockCode);
        _refuses(timelockCode, "a second timelock");
        _refuses(lensCode, "a late lens");
    }

    function test_noOtherCodeIsDeployed() public {
        _refuses("", "no code");
        _refuses(hex"6001600c60003960016000f300", "other code");
        _refuses(_lensCode(address(fresh)), "a lens of another token");
        _refuses(bytes.concat(lensCode, hex"00"), "a longer code");
        fresh.deployPlanned(lensCode);
        ISettlement.Setup memory setup = _setup();
        bytes memory code = codeOf("Timelock");
        _refuses(
            bytes.concat(code, abi.encode(setup.governanceDelay - 1, setup.proposers)),
            "a timelock with another delay"
        );
        setup.proposers[0] = STRANGER;
        _refuses(
            bytes.concat(code, abi.encode(setup.governanceDelay, setup.proposers)),
            "a timelock with another proposer"
        );
    }

    function test_aStepWithTooLittleGasLeavesNothingAndCanBeRepeated() public {
        bytes memory call = abi.encodeCall(fresh.deployPlanned, (lensCode));
        for (uint256 gasLimit = 100_000; gasLimit < 7_000_000; gasLimit += 690_001) {
            (bool succeeded,) = address(fresh).call{gas: gasLimit}(call);
            assertTrue(!succeeded, "too little gas");
            assertEq(firstCreationOf(address(fresh)).code.length, 0, "no lens");
        }
        fresh.deployPlanned(lensCode);
        fresh.deployPlanned(timelockCode);
    }

    function test_theLensPreparesTheRingAndKeepsTheNodesOfSettledBatches() public {
        settlement = fresh;
        merchant = _register("acct_1", WALLET_KEY);
        payer = _goodPayer(PAYER_KEY);
        bytes memory payment = _sale(1);
        vm.prank(OPERATOR);
        fresh.settleBatch(payment, _now());
        bytes32 root = fresh.rangeNode(1);
        assertEq(root, keccak256(payment), "the batch's root");
        assertEq(fresh.rangeNode(2), bytes32(0), "not prepared");
        fresh.deployPlanned(lensCode);
        assertEq(fresh.rangeNode(1), root, "kept");
        for (uint256 i = 0; i < 256; ++i) {
            if (i != 1) assertEq(fresh.rangeNode(i), bytes32(uint256(1)), "prepared");
        }
        assertEq(fresh.rangeNode(256 + 7), bytes32(0), "no peak");
    }

    function _refuses(bytes memory code, string memory what) private {
        bytes memory expected =
            abi.encodeWithSelector(ISettlement.NotPlanned.selector, keccak256(code));
        (bool succeeded, bytes memory answer) =
            address(fresh).call(abi.encodeCall(fresh.deployPlanned, (code)));
        assertTrue(!succeeded, what);
        assertEq(keccak256(answer), keccak256(expected), what);
    }
}
