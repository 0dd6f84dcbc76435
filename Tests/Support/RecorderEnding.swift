package import Recordings

extension Recorder {
    /// Finishes as `finish` does, with a limit that no slow machine exceeds. The recorder's thread has a low priority:
    /// beside builds it takes long to write many frames.
    package func finishPatiently() async -> Report { await self.finish(within: .seconds(60) * Patience.factor) }
}
