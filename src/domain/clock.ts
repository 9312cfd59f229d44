/** Time is an argument in the domain and a port elsewhere. Epoch milliseconds. */
export interface Clock {
  now(): number;
}
