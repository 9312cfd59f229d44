// Whose webhook takes signals only from who shows the charting platform's client certificate.

export const platformCertificate = `
alter table trading_accounts add column require_platform_certificate {boolean} not null default {false};
`;
