// The variables that say where traces go: what is wrong is named, what is secret is known.

import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { isFailure } from '../../../src/base/rules/errors.ts';
import { checkOtlpSettings, otlpSecrets, otlpVariables } from '../../../src/base/rules/otlp-settings.ts';

const HEADERS = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret-of-the-key, x-other=b=c' };

test('an endpoint that is no address, or another protocol, is refused by its variable', () => {
  const wrong = [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://user:password@host' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
  ];
  for (const env of wrong) {
    const [name = ''] = Object.keys(env);
    assert.throws(
      () => checkOtlpSettings(env),
      (error) =>
        isFailure(error, BASE_CODES.config_value) && error.values.key === name && !/password/.test(error.message),
    );
  }
});

test('no settings, an http address and http/json are taken', () => {
  checkOtlpSettings({});
  checkOtlpSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  checkOtlpSettings({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
});

test('headers are secret, each value by itself as well', () => {
  assert.deepEqual(otlpVariables({ ...HEADERS, PATH: '/bin', OTEL_SERVICE_NAME: 'a' }), ['OTEL_EXPORTER_OTLP_HEADERS']);
  assert.deepEqual(otlpSecrets(HEADERS), [HEADERS.OTEL_EXPORTER_OTLP_HEADERS, 'secret-of-the-key', 'b=c']);
});
