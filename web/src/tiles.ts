// An archive of tiles (PMTiles) as a base map: pictures as they are, shapes in two quiet colours.
import * as maplibre from 'maplibre-gl';
import {PMTiles, Protocol, TileType} from 'pmtiles';

const SCHEME = 'pmtiles';

interface Metadata {
  attribution?: string;
  vector_layers?: {id: string}[];
}

export class Tiles {
  private constructor(private readonly address: string, private readonly isVector: boolean, private readonly metadata: Metadata) {}

  static async open(path: string): Promise<Tiles> {
    const archive = new PMTiles(new URL(path, location.href).href);
    const protocol = new Protocol();
    protocol.add(archive);
    maplibre.addProtocol(SCHEME, protocol.tile);
    const [{tileType}, metadata] = await Promise.all([archive.getHeader(), archive.getMetadata()]);
    return new Tiles(archive.source.getKey(), tileType === TileType.Mvt, metadata as Metadata);
  }

  style(isDark: boolean): maplibre.StyleSpecification {
    const {attribution, vector_layers} = this.metadata;
    const shared = {url: `${SCHEME}://${this.address}`, ...(attribution ? {attribution} : {})};
    if (!this.isVector) return {version: 8, sources: {tiles: {type: 'raster', tileSize: 256, ...shared}}, layers: [{id: 'tiles', type: 'raster', source: 'tiles'}]};
    const [fill, line] = isDark ? ['#1c2129', '#3a424e'] : ['#e2e5e9', '#c3c8d0'];
    const ids = (vector_layers ?? []).map(layer => layer.id);
    return {
      version: 8,
      sources: {tiles: {type: 'vector', ...shared}},
      layers: [
        ...ids.map((id): maplibre.LayerSpecification => ({
          id: `${id} fill`, type: 'fill', source: 'tiles', 'source-layer': id, filter: ['==', ['geometry-type'], 'Polygon'], paint: {'fill-color': fill},
        })),
        ...ids.map((id): maplibre.LayerSpecification => ({
          id: `${id} line`, type: 'line', source: 'tiles', 'source-layer': id, paint: {'line-color': line},
        })),
      ],
    };
  }
}
