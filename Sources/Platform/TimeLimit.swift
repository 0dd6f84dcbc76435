/// Returns the work's answer, or `nil` if it takes longer than the limit; the work then continues.
///
/// Cancellation of the task does not end the wait: queued work must reach the files however the program ends.
package func withTimeLimit<Answer: Sendable>(
    _ limit: Duration,
    _ work: @escaping @Sendable () async -> Answer
) async -> Answer? {
    let (answers, answer) = AsyncStream.makeStream(of: Answer?.self)
    Task.detached { answer.yield(await work()) }
    let timer = Task.detached {
        try await Task.sleep(for: limit)
        answer.yield(nil)
    }
    defer { timer.cancel() }
    return await Task.detached { await answers.first { _ in true } ?? nil }.value
}
