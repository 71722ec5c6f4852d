import { ModuleProvider, Modules } from '@medusajs/framework/utils';
import { TaplinePaymentProvider } from './provider.js';

export default ModuleProvider(Modules.PAYMENT, { services: [TaplinePaymentProvider] });
