import Platform
import Synchronization
import Wire

// The methods of the writer's thread. Its waits and the times of syncs follow the system's clock, because an injected clock
// cannot end a wait.
extension Recorder {
    /// Waits until the thread is woken, at most until a monotonic time.
    private func listen(until time: Int64) { self.wake.wait(atMost: time - SystemClock.monotonic()) }

    /// Waits for more lines that the same write can take, at most until a monotonic time.
    private func waitForMore(until time: Int64) {
        while true {
            let left = time - SystemClock.monotonic()
            guard left > 0, !self.queue.withLockedValue({ $0.isUrgent || $0.isFinished }) else { return }
            // The signal comes when much waits, and at the end.
            self.wake.wait(atMost: left)
        }
    }

    func writeUntilFinished() {
        // The longest wait without a wake-up, ns.
        let idle: Int64 = 3_600_000_000_000
        // While frames come, the thread checks the queue by itself, and the feed does not wake it. After a pause the
        // feed wakes it for the first entry.
        var looksByItself = false
        // When the queue was last checked, monotonic ns.
        var looked: Int64 = 0
        while true {
            if !looksByItself, self.queue.withLockedValue({ $0.await() }) {
                self.listen(until: self.file.withLockedValue { $0.syncDeadline } ?? SystemClock.monotonic() + idle)
            }
            let (waits, isFinished) = self.queue.withLockedValue { (!$0.isEmpty, $0.isFinished) }
            if isFinished { return }
            if looksByItself || waits {
                // A sync in between counts towards the interval.
                let began = looksByItself ? looked : SystemClock.monotonic()
                // All lines of the interval share one write, for which a quarter of the interval is left.
                self.waitForMore(until: began + self.settings.flushInterval / 4 * 3)
                looked = SystemClock.monotonic()
                looksByItself = self.writeNext()
            }
            self.syncIfDue()
        }
    }

    private func syncIfDue() {
        let now = SystemClock.monotonic()
        self.file.withLockedValue { file in
            guard let deadline = file.syncDeadline, deadline <= now else { return }
            file.sync(now: now)
            self.notify(&file)
        }
    }

    /// Writes everything queued.
    package func drain() { while self.writeNext() {} }

    /// Writes the oldest part of the queue; returns whether there was one.
    private func writeNext() -> Bool {
        guard var waiting = self.queue.withLockedValue({ $0.take() }) else { return false }
        self.file.withLockedValue { file in
            let now = SystemClock.monotonic()
            file.writtenAt = now
            for entry in waiting.entries {
                switch entry {
                case .frame(let length, let dialect, let moment, let numbers, let epoch):
                    file.append(
                        frame: waiting.frames.next(length),
                        of: dialect,
                        received: moment.wall,
                        monotonic: moment.monotonic,
                        numbers: numbers,
                        epoch: epoch
                    )
                case .leftOut(let frames):
                    file.leftOut(frames.count, from: frames.from, to: frames.to, now: now)
                case .gap(let gap, let moment):
                    file.append(gap: gap, wall: moment.wall, monotonic: moment.monotonic)
                case .note(let note, let moment):
                    file.append(note: note, wall: moment.wall, monotonic: moment.monotonic)
                }
                self.progress.wrappingAdd(1, ordering: .relaxed)
            }
            file.flush(now: now)
            self.notify(&file)
        }
        // Cleared outside the lock, which the feed may be waiting for.
        waiting.clear()
        self.queue.withLockedValue { [waiting] in $0.takeBack(waiting) }
        return true
    }

    private func notify(_ file: inout RecordingWriter) {
        let (failed, doubted) = (file.failed, file.doubted)
        let newest = (file.path, file.file.bytes, !file.trouble.isFailing)
        self.queue.withLockedValue { queue in
            queue.newest = newest
            queue.failed = failed
            queue.doubted = doubted
        }
        if let problem = file.takeProblem() {
            self.printError("\(file.path) cannot be written: \(problem); what comes now is missing there")
        }
        if let problem = file.takeSyncProblem() {
            self.printError("\(file.path) may not be on the disk: \(problem); a power cut may cost what came last")
        }
        if let problem = file.takeRotationProblem() {
            self.printError(
                "the file after \(file.path) cannot be made: \(problem); this one is continued until it can"
            )
        }
        if file.takeRecovery() {
            self.printError("\(file.path) is written again; \(self.dropped) frames are missing there")
        }
        let completed = file.takeCompleted()
        guard !completed.isEmpty else { return }
        // Before maintenance: the readers of the completed files need them uncompressed.
        self.completed(completed, file.path)
        self.maintenance?.look(newest: file.path)
    }

    /// Writes everything queued and the last line, and closes the file.
    package func close() -> Report {
        self.takeNoMore()
        self.drain()
        return self.file.withLockedValue { file in
            file.close(wall: self.clock.wall(), monotonic: self.clock.monotonic())
            self.notify(&file)
            return Report(
                frames: file.frames,
                bytes: file.bytes,
                dropped: file.failed + self.queue.withLockedValue { $0.dropped },
                segments: file.segments,
                doubted: file.doubted
            )
        }
    }
}
