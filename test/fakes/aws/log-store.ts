export interface LogLine {
  timestamp: number;
  message: string;
  ingestionTime: number;
}

/** CloudWatch Logs: lines by group and stream, oldest first. */
export class LogStore {
  readonly groups = new Map<string, Map<string, LogLine[]>>();

  add(group: string, stream: string, message: string, timestamp: number, ingestionTime = timestamp): void {
    this.stream(group, stream).push({ timestamp, message, ingestionTime });
  }

  /** Creates what is not there. */
  stream(group: string, stream: string): LogLine[] {
    const streams = this.groups.get(group) ?? new Map<string, LogLine[]>();
    this.groups.set(group, streams);
    const lines = streams.get(stream) ?? [];
    streams.set(stream, lines);
    return lines;
  }
}
