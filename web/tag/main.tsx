import { mount } from '../ui/mount.tsx';
import '../pay/pay.css';
import { tokenOf } from '../pay/pay-link.ts';
import { TagPage } from './tag.tsx';

mount(<TagPage token={tokenOf(location.pathname)} />);
