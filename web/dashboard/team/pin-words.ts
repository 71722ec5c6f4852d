import { pinProblem } from '#core/pin-problem.ts';
import { liftsLimits, type Role, type TillRole } from '#people/role-order.ts';
import { t } from '../../ui/text/t.ts';

/** Explains why a person's new PIN is refused. Beside the service, whose message is English. */
export function pinWords(pin: string, role: Role | TillRole): string | null {
  const problem = pinProblem(pin, liftsLimits(role));
  if (problem === null) return null;
  return problem === 'digits'
    ? t('dashboard.till_access.pin_invalid')
    : t(`dashboard.staff.pin_problem.${problem}`);
}
