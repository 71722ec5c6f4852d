import { mount } from '../ui/mount.tsx';
import './pay.css';
import { PayPage } from './pay.tsx';
import { tokenOf } from './pay-link.ts';

mount(<PayPage token={tokenOf(location.pathname)} />);
