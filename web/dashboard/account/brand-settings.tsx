import { type ReactNode, useState } from 'react';
import type { ReadBrandResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/use-send.ts';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';
import { toLogo } from './brand-picture.ts';

/** Shown while no color is chosen, because a color field always has a value. */
const UNCHOSEN = '#3346c8';

export function Brand({ name }: { readonly name: string }): ReactNode {
  const query = useRead('GET /accounts/{account}/brand');
  const { may } = useMerchant();
  return (
    <section className="card stack">
      <h2>{t('dashboard.brand.logo_and_color.heading')}</h2>
      <p className="soft">{t('dashboard.brand.text')}</p>
      <Loaded query={query}>
        {(brand) => (
          <>
            <Preview brand={brand} name={name} />
            {may('admin') ? (
              <>
                <ColorForm key={brand.color} color={brand.color} />
                <LogoForm hasLogo={brand.logo_path !== null} />
              </>
            ) : null}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Preview({ brand, name }: { brand: ReadBrandResponse; name: string }): ReactNode {
  if (brand.style_path === null) return <p className="soft small">{t('dashboard.brand.none')}</p>;
  return (
    <>
      <link rel="stylesheet" href={brand.style_path} />
      <p className="branded brand-preview">
        <bdi>{name}</bdi>
      </p>
    </>
  );
}

function ColorForm({ color }: { readonly color: string | null }): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const [typed, setTyped] = useState(color ?? UNCHOSEN);
  const sending = useSend(['color']);
  const save = async () => {
    const body = { color: typed };
    const saved = await sending.send(() => call('PUT /accounts/{account}/brand/color', { body }));
    if (saved !== null) toast(t('dashboard.settings.saved'));
  };
  return (
    <>
      <Form sending={sending} onSend={save} send={t('dashboard.brand.save_color.button')}>
        <TextField
          label={t('dashboard.brand.color_behind_the_name.label')}
          type="color"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          hint={t('dashboard.brand.color_hint')}
          error={sending.problemAt('color')}
        />
      </Form>
      {color === null ? null : (
        <div>
          <ActionButton
            request={() => call('PUT /accounts/{account}/brand/color', { body: { color: null } })}
          >
            {t('dashboard.brand.remove_color.button')}
          </ActionButton>
        </div>
      )}
    </>
  );
}

function LogoForm({ hasLogo }: { readonly hasLogo: boolean }): ReactNode {
  const { call } = useMerchant();
  const [file, setFile] = useState<File | null>(null);
  const [uploads, setUploads] = useState(0);
  const sending = useSend(['file']);
  const upload = async () => {
    if (file === null) return sending.refuse('file', t('dashboard.brand.logo_missing'));
    const logo = await toLogo(file);
    if (logo === null) return sending.refuse('file', t('dashboard.brand.logo_invalid'));
    const done = await sending.send(() =>
      call('POST /accounts/{account}/brand/logo', { file: logo }),
    );
    if (done === null) return;
    setFile(null);
    setUploads((count) => count + 1);
  };
  return (
    <>
      <Form sending={sending} onSend={upload} send={t('dashboard.brand.upload_logo.button')}>
        <TextField
          // Changing the key empties the file field after an upload; the uploaded picture is shown
          // above.
          key={uploads}
          label={t('dashboard.brand.logo.label')}
          type="file"
          accept="image/png,image/jpeg,image/webp"
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          hint={t('dashboard.brand.logo_hint')}
          error={sending.problemAt('file')}
        />
      </Form>
      {hasLogo ? (
        <div>
          <ActionButton request={() => call('DELETE /accounts/{account}/brand/logo')}>
            {t('dashboard.brand.remove_logo.button')}
          </ActionButton>
        </div>
      ) : null}
    </>
  );
}
