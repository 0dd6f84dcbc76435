import Market
import NIOCore
import Recordings

/// The requests to a replay.
extension ReplayPlayer {
    /// Executes a request; `answer` is called once, now or when the place is found.
    func request(
        _ request: ReplayRequest,
        answer: @escaping (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) {
        if let search = self.search.take() {
            search.answer(.failure(ReplayRefusal("another request came before the gap was found")))
        }
        let from = self.position.at
        do throws(RecordingFailure) {
            switch self.machine.requested(request, start: self.span.start, now: self.now) {
            case .refuse(let refusal): return answer(.failure(refusal))
            case .none: return answer(.success(self.position))
            case .changed:
                self.notify(movedFrom: nil)
            case .seek(let time, let pauses):
                guard let file = self.material.places else { return answer(.failure(Self.noPlaces)) }
                let place = try ReplaySearch.landing(file, at: time, in: self.span.bounds)
                try self.go(to: place, in: file, showing: time, pauses: pauses, from: from)
            case .goBack(let messages):
                guard let file = self.material.places else { return answer(.failure(Self.noPlaces)) }
                let place = try ReplaySearch.back(
                    file,
                    messages: messages,
                    from: self.reading.place,
                    in: self.span.bounds
                )
                try self.go(to: place, in: file, showing: nil, from: from)
            case .findGap:
                guard let file = self.material.places else { return answer(.failure(Self.noPlaces)) }
                return try self.findGap(in: file, answer)
            }
        } catch {
            self.fail("\(error)")
            return answer(.failure(ReplayRefusal("\(error)")))
        }
        // The request first, so that the answer holds the resulting position.
        self.pump()
        answer(.success(self.position))
    }

    private static var noPlaces: ReplayRefusal {
        ReplayRefusal("a simulated market cannot be moved to another place")
    }

    private func go(
        to place: ReplayCursor.Place,
        in file: RecordingFile,
        showing time: Int64?,
        pauses: Bool = false,
        from: Int64
    ) throws(RecordingFailure) {
        self.reading.land(try file.makeReader(at: place))
        self.isBroken = false
        // A demo goes on from now, wherever it was moved to.
        self.rebase = nil
        if let time {
            self.machine.jumped(to: time, pauses: pauses, now: self.now)
        } else {
            self.machine.wentBack(to: place.time, now: self.now)
        }
        self.notify(movedFrom: from)
    }

    func notify(movedFrom: Int64?) {
        let position = self.position
        self.moved(self.machine)
        for output in self.outputs { output.changed(position, movedFrom: movedFrom) }
        self.changed(position)
    }

    // MARK: The next gap

    private func findGap(
        in file: RecordingFile,
        _ answer: @escaping (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) throws(RecordingFailure) {
        self.timer?.cancel()
        self.timer = nil
        self.search = try GapSearch(
            file,
            from: self.reading.place,
            lastTrade: self.lastTrade,
            end: self.span.bounds.upperBound,
            answer: answer
        )
        self.searchOn()
    }

    /// Searches one part of the file, then lets other work of the loop run.
    private func searchOn() {
        guard let search = self.search else { return }
        do throws(RecordingFailure) {
            switch try search.step() {
            case .more:
                let loopBound = NIOLoopBound(self, eventLoop: self.loop)
                return self.loop.execute { loopBound.value.searchOn() }
            case .none:
                self.search = nil
                search.answer(.failure(ReplayRefusal("no gap and no silence of 5 s follows this place")))
            case .found(let place):
                self.search = nil
                let from = self.position.at
                try self.go(to: place, in: search.file, showing: place.time, from: from)
                search.answer(.success(self.position))
            }
        } catch {
            self.fail("\(error)")
            search.answer(.failure(ReplayRefusal("\(error)")))
        }
        self.pump()
    }
}
