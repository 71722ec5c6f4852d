import { mount } from '../ui/mount.tsx';
import './terminal.css';
import { Terminal } from './terminal.tsx';

mount(<Terminal />);
