import { mount } from '../ui/mount.tsx';
import './pay.css';
import { tokenOf } from './link.ts';
import { PayPage } from './pay.tsx';

mount(<PayPage token={tokenOf(location.pathname)} />);
