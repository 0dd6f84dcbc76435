/// The end of a recording, as the mock server reports it to its clients.
package enum ReplayEnd {
    /// The reason in the close frame after the last frame of a recording.
    package static let closeReason = "end of the recording"
    /// The reason in the close frame where the rest of a recording cannot be read.
    package static let failureReason = "the recording cannot be read"
}
