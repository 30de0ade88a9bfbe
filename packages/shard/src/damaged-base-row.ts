import { ShoalError } from "@shoal/model";

/** The row that a write is based on is damaged, and nothing was written. Other `dataLoss` of a write may come of what is to be written. */
export class DamagedBaseRow extends ShoalError {
  constructor(message: string, cause?: unknown) {
    super("dataLoss", message, { cause });
  }
}
