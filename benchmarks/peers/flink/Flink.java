// The paper's middleware by Flink: a spatial index tells who enters and leaves, CEP has the patterns on top.
//
// java Flink SQUARES READINGS STAY_S MATCHES
//   as for Esper's Peer; it prints the same: how many readings there were, the seconds of processor time of the
//   threads that work (source, dwell, CEP), and the events that were made.

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.WithinType;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichSourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.util.Collector;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.index.strtree.STRtree;

public class Flink {
  public record Area(int pair, int kind, double x1, double y1, double x2, double y2) {
    boolean holds(double x, double y) {
      return x1 <= x && x <= x2 && y1 <= y && y <= y2;
    }
  }

  // `at` is when somebody came, left, or had been there for long enough.
  public static class Change {
    public long key, id, at;
    public int pair, kind;
    public boolean isEnter;

    public Change() {}

    Change(long id, int pair, int kind, boolean isEnter, long at) {
      this.id = id;
      this.pair = pair;
      this.kind = kind;
      this.isEnter = isEnter;
      this.at = at;
      key = id * 1_000_000 + pair;
    }
  }

  static final AtomicLong NANOS = new AtomicLong(), SENT = new AtomicLong();
  static final ConcurrentLinkedQueue<String> MATCHES = new ConcurrentLinkedQueue<>();
  static STRtree areas;
  static double[][] readings;
  static long stayMs;

  static void count() {
    NANOS.addAndGet(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
  }

  // A tick's changes, exits before entries, and then that it is over.
  public static class Index extends RichSourceFunction<Change> {
    @Override
    public void run(SourceContext<Change> out) {
      long began = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      Map<Long, List<Area>> within = new HashMap<>();
      List<Change> entered = new ArrayList<>();
      for (int i = 0; i < readings.length;) {
        double tick = readings[i][0];
        long ms = (long) tick * 1000;
        entered.clear();
        for (; i < readings.length && readings[i][0] == tick; i++) {
          double[] r = readings[i];
          if (r[4] != 1) continue;
          long id = (long) r[1];
          List<Area> now = new ArrayList<>();
          for (Object found : areas.query(new Envelope(r[2], r[2], r[3], r[3]))) {
            if (((Area) found).holds(r[2], r[3])) now.add((Area) found);
          }
          List<Area> before = within.getOrDefault(id, List.of());
          for (Area a : before) {
            if (!now.contains(a)) {
              out.collectWithTimestamp(new Change(id, a.pair(), a.kind(), false, ms), ms);
              SENT.incrementAndGet();
            }
          }
          for (Area a : now) {
            if (!before.contains(a)) entered.add(new Change(id, a.pair(), a.kind(), true, ms));
          }
          if (now.isEmpty()) within.remove(id); else within.put(id, now);
        }
        for (Change e : entered) out.collectWithTimestamp(e, ms);
        SENT.addAndGet(entered.size());
        out.emitWatermark(new Watermark(ms));
      }
      NANOS.addAndGet(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - began);
    }

    @Override
    public void cancel() {}
  }

  // Who has been somewhere for long enough: a timer, which an exit at its very tick forgets.
  public static class Dwell extends KeyedProcessFunction<Long, Change, Change> {
    private transient MapState<Integer, Change> there;

    @Override
    public void open(OpenContext context) {
      there = getRuntimeContext().getMapState(new MapStateDescriptor<>("there", Integer.class, Change.class));
    }

    @Override
    public void processElement(Change change, Context context, Collector<Change> out) throws Exception {
      if (change.isEnter) {
        there.put(change.kind, change);
        context.timerService().registerEventTimeTimer(change.at + stayMs);
      } else if (there.contains(change.kind)) {
        context.timerService().deleteEventTimeTimer(there.get(change.kind).at + stayMs);
        there.remove(change.kind);
      }
    }

    @Override
    public void onTimer(long at, OnTimerContext context, Collector<Change> out) throws Exception {
      for (int kind = 0; kind < 2; kind++) {
        Change came = there.get(kind);
        if (came != null && came.at + stayMs == at) {
          out.collect(new Change(came.id, came.pair, kind, true, at));
          there.remove(kind);
        }
      }
    }

    @Override
    public void close() {
      count();
    }
  }

  public static class Told extends PatternProcessFunction<Change, String> {
    @Override
    public void processMatch(Map<String, List<Change>> match, Context context, Collector<String> out) {
      Change a = match.get("a").get(0), c = match.get("c").get(0);
      out.collect(a.pair + "," + a.id + "," + a.at + "," + c.at);
    }
  }

  public static class Kept extends RichSinkFunction<String> {
    @Override
    public void invoke(String match, Context context) {
      MATCHES.add(match);
    }

    @Override
    public void close() {
      count();
    }
  }

  static SimpleCondition<Change> of(int kind) {
    return SimpleCondition.of(change -> change.kind == kind);
  }

  public static void main(String[] args) throws Exception {
    areas = new STRtree();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] v = line.split(",");
      double[] at = new double[4];
      for (int i = 0; i < 4; i++) at[i] = Double.parseDouble(v[i + 2]);
      areas.insert(new Envelope(at[0], at[2], at[1], at[3]),
          new Area(Integer.parseInt(v[0]), Integer.parseInt(v[1]), at[0], at[1], at[2], at[3]));
    }
    areas.build();
    readings = Files.readAllLines(Path.of(args[1])).stream()
        .map(line -> java.util.Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
        .toArray(double[][]::new);
    stayMs = 1000L * Integer.parseInt(args[2]);

    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1);
    env.getConfig().enableObjectReuse();
    DataStream<Change> dwelt = env.addSource(new Index()).returns(Change.class)
        .keyBy(change -> change.key).process(new Dwell()).returns(Change.class);
    Pattern<Change, Change> pattern = Pattern.<Change>begin("a", AfterMatchSkipStrategy.noSkip()).where(of(0))
        .followedBy("b").where(of(1)).within(Duration.ofHours(1), WithinType.PREVIOUS_AND_CURRENT)
        .followedBy("c").where(of(0));
    CEP.pattern(dwelt.keyBy(change -> change.key), pattern).process(new Told()).addSink(new Kept());
    env.execute();
    try (PrintWriter out = new PrintWriter(args[3])) {
      MATCHES.forEach(out::println);
    }
    System.out.println(readings.length + " " + NANOS.get() / 1e9 + " " + SENT.get());
  }
}
